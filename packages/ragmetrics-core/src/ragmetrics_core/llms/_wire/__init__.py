"""Common code for clients of model servers: error messages, forms of reply, refusals of parameters, addresses and keys."""
