"""An authority of our own, made once per run with openssl, for servers that the harness itself plays."""
import pathlib
import ssl
import subprocess


class Authority:
    def __init__(self, folder, name="localhost"):
        self.dir = pathlib.Path(folder)
        self.dir.mkdir(parents=True, exist_ok=True)
        self.ca = self.dir / "ca.crt"
        self.cert = self.dir / "server.crt"
        self.key = self.dir / "server.key"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
                      "-out", "ca.crt", "-days", "30", "-subj", "/CN=ops-pod-cleaner e2e authority")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
                      "-out", "server.csr", "-subj", "/CN=e2e server")
        (self.dir / "ext").write_text("basicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n"
                                      f"subjectAltName=IP:127.0.0.1,DNS:{name}\n")
        self._openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                      "-days", "30", "-out", "server.crt", "-extfile", "ext")

    def _openssl(self, *args):
        subprocess.run(["openssl", *args], cwd=self.dir, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def server_context(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        context.set_alpn_protocols(["http/1.1"])
        return context
