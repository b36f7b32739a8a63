"""A clean Debian to install the package in, and to boot."""
