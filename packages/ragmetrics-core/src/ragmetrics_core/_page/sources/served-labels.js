// Label mode of a served page.
