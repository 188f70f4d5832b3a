"""Fetching: files of institutions from servers that are not ours, and taking OpenPGP off them.

Here live what every place can do (`remote.py`, read it first), SFTP through the `ssh` of OpenSSH
(`ssh.py` starts it, `sftp.py` speaks with the server, `piped.py` gives both a deadline), folders
and buckets through fsspec (`objects.py`), and `gpg` (`openpgp.py`). May import `domain` and
`archive`, which knows the packages of fsspec. It knows no store and no drop folder: `jobs/pickup`
decides what is fetched and where it goes. A server may say anything: names, sizes and answers are
checked here. To add a kind of place, write what `Remote` asks for and name it in `remote.py`.
"""
