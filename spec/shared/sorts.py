"""The sorts that modules share, so that two modules speak of the same requests and blocks."""

from __future__ import annotations

from interlock.spec.language.sorts import Sort

request = Sort(name="request", doc="a request from its arrival to its end (one incarnation of an id)")
block = Sort(name="block", doc="a GPU block of the KV cache; its id outlives what it holds")
chunk = Sort(name="chunk", doc="a slot of the CPU tier that holds one block's worth of KV")
job = Sort(name="job", doc="a transfer job; an id is used again only after its job has ended")
worker = Sort(name="worker", doc="a worker process (tensor-parallel rank) with its own shard of every block")
hash_ = Sort(name="hash", doc="a block hash: the name of a prefix that ends with this block")
position = Sort(name="position", doc="a place in a request's sequence of blocks, from the first")
group = Sort(name="group", doc="a KV cache group: layers with one block table (full attention, window, Mamba)")
item = Sort(name="item", doc="an encoder item (an image, a clip), named by the hash of its content (mm_hash)")
