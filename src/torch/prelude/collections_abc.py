# collections.abc: the checks of typing.

Iterable = typing.Iterable
Iterator = typing.Iterator
Generator = typing.Generator
Sequence = typing.Sequence
MutableSequence = typing.MutableSequence
Mapping = typing.Mapping
MutableMapping = typing.MutableMapping
Callable = typing.Callable
Hashable = typing.Hashable
Sized = typing.Sized
Collection = typing.Collection
Container = typing.Container
Set = set
