"""Builds a real kube-apiserver out of Debian's source package, whose vendored modules are in it: `make api-server`.

python -m tools.kube_apiserver FOLDER

Of later releases Debian packages the client only, so this is 1.20. It takes root, apt-get, and ten minutes of CPU; what is
there already is kept.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

PACKAGES: Final = ("golang-1.19-go", "etcd-server", "dpkg-dev", "golang-github-modern-go-reflect2-dev")
GO: Final = Path("/usr/lib/go-1.19/bin/go")
_REFLECTION: Final = "github.com/modern-go/reflect2"
_VERSION: Final = "k8s.io/kubernetes/vendor/k8s.io/component-base/version"
_TYPES: Final = (
    "api",
    "apimachinery",
    "apiextensions-apiserver",
    "kube-aggregator",
    "apiserver",
    "client-go",
    "component-base",
)
_MORE_TYPES: Final = ("metrics", "kubelet", "kube-proxy", "kube-scheduler", "kube-controller-manager", "cloud-provider")


def main() -> int:
    """Build FOLDER/kube-apiserver."""
    folder = Path(sys.argv[1]).resolve()
    source = folder / "gopath/src/k8s.io/kubernetes"
    if os.getuid() or not shutil.which("apt-get"):
        print("kube-apiserver cannot be built here: it takes root and apt-get", file=sys.stderr)
        return 1
    if not (GO.exists() and shutil.which("etcd") and _packaged_reflection().exists()):
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *PACKAGES], check=True)
    if not source.exists():
        _unpack(folder / "apt", source)
    _renew_reflection(source)
    build(folder, source)
    return 0


def _unpack(apt: Path, source: Path) -> None:
    """Get the source by the system's own sources of packages, which need not name those of sources."""
    (apt / "lists/partial").mkdir(parents=True, exist_ok=True)
    for path in (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.[ls]*")):
        if path.suffix in (".list", ".sources") and path.exists():
            text = path.read_text().replace("Types: deb\n", "Types: deb-src\n")
            lines = ["deb-src" + line[3:] if line.startswith("deb ") else line for line in text.splitlines()]
            (apt / path.name).write_text("\n".join([*lines, ""]))
    options = [
        "-o",
        f"Dir::Etc::sourceparts={apt}",
        "-o",
        "Dir::Etc::sourcelist=/dev/null",
        "-o",
        f"Dir::State::lists={apt}/lists",
    ]
    subprocess.run(["apt-get", *options, "update", "-qq"], check=True)
    subprocess.run(["apt-get", *options, "source", "--download-only", "-qq", "kubernetes"], check=True, cwd=apt)
    (description,) = apt.glob("kubernetes_*.dsc")
    source.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["dpkg-source", "--no-check", "-x", str(description), str(source)], check=True)


def _packaged_reflection() -> Path:
    return Path("/usr/share/gocode/src") / _REFLECTION


def _renew_reflection(source: Path) -> None:
    """Take Debian's reflect2 for the vendored one, which walks maps as Go did before 1.18: a server with it dies of that."""
    vendored = source / "vendor" / _REFLECTION
    shutil.rmtree(vendored)
    shutil.copytree(_packaged_reflection(), vendored)


def build(folder: Path, source: Path) -> None:
    """Generate the descriptions of its types, which are not in the source, and build the server."""
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": str(folder / "gopath"), "GOROOT": str(GO.parents[1])}
    environment["PATH"] = f"{GO.parent}:{os.environ['PATH']}"
    if not (source / "pkg/generated/openapi/zz_generated.openapi.go").exists():
        generator = str(folder / "openapi-gen")
        generate = [GO, "build", "-p", "1", "-o", generator, "./vendor/k8s.io/kube-openapi/cmd/openapi-gen"]
        subprocess.run(generate, check=True, cwd=source, env=environment)
        where = [
            "-p",
            "k8s.io/kubernetes/pkg/generated/openapi",
            "-O",
            "zz_generated.openapi",
            "-h",
            "/dev/null",
            "-r",
            "/dev/null",
        ]
        subprocess.run([generator, "-i", ",".join(_described(source)), *where], check=True, cwd=source, env=environment)
    flags = f"-X {_VERSION}.gitVersion=v1.20.2 -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=20"
    server = [GO, "build", "-p", "1", "-ldflags", flags, "-o", str(folder / "kube-apiserver"), "./cmd/kube-apiserver"]
    subprocess.run(server, check=True, cwd=source, env=environment)


def _described(source: Path) -> list[str]:
    """The packages whose types have descriptions."""
    folders = [source / "vendor/k8s.io" / name for name in (*_TYPES, *_MORE_TYPES)] + [source / "pkg", source / "cmd"]
    found = set()
    for top in folders:
        # The vendored ones are links into the staging area.
        for path in top.resolve().rglob("*.go"):
            inside = top / path.relative_to(top.resolve())
            if "testdata" not in inside.parts and "+k8s:openapi-gen=" in path.read_text(errors="replace"):
                found.add("k8s.io/kubernetes/" + str(inside.parent.relative_to(source)))
    return sorted(found)


if __name__ == "__main__":
    sys.exit(main())
