"""The picture of MLflow's page with our scores, ``mlflow.png``: the programs of mlflow.md are run, and Chromium takes a picture of
what a server of MLflow shows of the run.

It needs ragmetrics-mlflow, playwright and Chromium; where there is no Chromium, that is said, and the picture stays as it is.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory

import mlflow
from picture import chromium_for, keep
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).with_name("mlflow.png")
PAGE = Path(__file__).with_name("mlflow.md")
DATABASE = "sqlite:///mlflow.db"


def main() -> None:
    """Take the picture."""
    chromium = chromium_for(PICTURE)
    if chromium is None:
        return
    with TemporaryDirectory() as name:
        (program := Path(name) / "program.py").write_text(
            re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
        )
        subprocess.run([sys.executable, program.name], cwd=name, check=True, capture_output=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", DATABASE, "--port", str(port)]
        server = subprocess.Popen(
            [*command, "--workers", "1"],
            cwd=name,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            take(chromium, f"http://127.0.0.1:{port}", Path(name) / PICTURE.name)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)
        keep(Path(name) / PICTURE.name, PICTURE)


def take(chromium: str, address: str, picture: Path) -> None:
    """A picture of the rows of the only run."""
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/health", timeout=1).close()  # noqa: S310  on this machine
            break
        except OSError:
            time.sleep(0.1)
    mlflow.set_tracking_uri(address)
    (run,) = mlflow.search_runs(experiment_names=["handbook"], output_format="list")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1500, "height": 560})
        page.goto(f"{address}/#/experiments/{run.info.experiment_id}/runs/{run.info.run_id}/traces")
        page.get_by_text("context_recall").first.wait_for()
        page.get_by_role("button", name="Close").first.click()
        page.wait_for_timeout(3000)
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
