"""An S3 server in this process, and the files of a history wherever it is."""

from __future__ import annotations

import json
import logging
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import boto3
from fsspec.core import url_to_fs
from moto.server import ThreadedMotoServer

from cardoffers_cli.archive.buckets import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-bucket",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}
"""What tells botocore everything, so that it looks nowhere else."""


@dataclass(frozen=True)
class ObjectStore:
    """A server that runs."""

    endpoint: str
    _numbers: count[int] = field(default_factory=lambda: count(1))

    @property
    def environment(self) -> dict[str, str]:
        """What botocore and pysail find it by."""
        names = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")
        return {**KEYS, **dict.fromkeys(names, self.endpoint), "AWS_ALLOW_HTTP": "true"}

    def new_bucket(self) -> str:
        """Make a bucket and return its URL."""
        name = f"bucket-{next(self._numbers)}"
        with self._client("s3") as buckets:
            buckets.create_bucket(Bucket=name)
        return f"s3://{name}"

    @contextmanager
    def checking_rights(self) -> Iterator[dict[str, str]]:
        """Let in only whom it knows, for the length of a `with` block; yield keys that may list."""
        keys = self._who_may_list()
        self._ask("moto-api/reset-auth", b"0")
        try:
            yield keys
        finally:
            self._ask("moto-api/reset-auth", b"inf")

    def put(self, url: str, content: bytes) -> None:
        """Write an object as somebody else does, of whom this process knows nothing."""
        name, _, key = url.removeprefix("s3://").partition("/")
        with self._client("s3") as bucket:
            bucket.put_object(Bucket=name, Key=key, Body=content)

    def remove(self, url: str) -> None:
        """Remove an object as somebody else does."""
        name, _, key = url.removeprefix("s3://").partition("/")
        with self._client("s3") as bucket:
            bucket.delete_object(Bucket=name, Key=key)

    def _who_may_list(self) -> dict[str, str]:
        """Make somebody who may list buckets, and nothing else; return their environment."""
        name = f"reader-{next(self._numbers)}"
        allowed = {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        with self._client("iam") as accounts:
            accounts.create_user(UserName=name)
            accounts.put_user_policy(UserName=name, PolicyName="list", PolicyDocument=policy)
            key = accounts.create_access_key(UserName=name)["AccessKey"]
        known = (key["AccessKeyId"], key["SecretAccessKey"])
        return dict(zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), known, strict=True))

    def _client(self, service: str) -> closing[Any]:
        return closing(
            boto3.client(
                service,
                endpoint_url=self.endpoint,
                region_name=KEYS["AWS_DEFAULT_REGION"],
                aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
                aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            )
        )

    def _ask(self, path: str, body: bytes) -> None:
        kind = {"Content-Type": "text/plain"}
        with urlopen(Request(f"{self.endpoint}/{path}", body, kind)) as answer:  # noqa: S310 - ours
            assert 200 == answer.status


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Run a server for the length of a `with` block."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        yield ObjectStore(f"http://127.0.0.1:{server.get_host_and_port()[1]}")
    finally:
        server.stop()


@dataclass(frozen=True)
class Files:
    """The files below a root, a folder or a URL, by what follows the root."""

    root: str

    def below(self, folder: str = "") -> list[str]:
        """Return the files below a folder, but for those that hold the digests of others."""
        files, path = self._reached()
        found = files.find(f"{path}/{folder}".rstrip("/"))
        return sorted(file.removeprefix(f"{path}/") for file in found if "/_" not in file)

    def folders(self) -> set[str]:
        """Return the folders that hold files."""
        return {file.rpartition("/")[0] for file in self.below()}

    def read(self, file: str) -> bytes:
        files, path = self._reached()
        content: bytes = files.cat_file(f"{path}/{file}")
        return content

    def write(self, file: str, content: bytes) -> None:
        files, path = self._reached()
        (place_of(self.root) / file.rpartition("/")[0]).make()
        files.pipe_file(f"{path}/{file}", content)

    def copy(self, folder: str, to: str) -> None:
        """Copy what is in a folder into another."""
        for file in self.below(folder):
            self.write(to + file.removeprefix(folder), self.read(file))

    def remove(self, folder: str) -> None:
        """Remove a folder with everything below."""
        files, path = self._reached()
        files.rm(f"{path}/{folder}", recursive=True)

    def _reached(self) -> tuple[Any, str]:
        files, path = url_to_fs(self.root)
        files.invalidate_cache()
        return files, path
