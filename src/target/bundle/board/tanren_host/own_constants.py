"""
Gives each reader of an int8 constant its own. Where sums of int8 weights would saturate, ONNX Runtime makes the weights uint8 at each reader,
under a name derived from the constant's: it does not load a model with two readers of one. Edits the bytes of a model, as boards have no package onnx.
"""

# Fields of ONNX's messages.
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT = 1, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_TYPE, NODE_ATTRIBUTE = 1, 2, 3, 4, 5
ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS = 5, 6, 11
TENSOR_TYPE, TENSOR_NAME = 2, 8
VALUE_NAME = 1
INT8 = 3


def give_own_constants(model):
    """@returns the bytes of a model with the same results, in which int8 constants of each graph and their dequantizations have one reader each"""
    fields = decode(model)
    taken = {name for field, value in fields if field == MODEL_GRAPH for name in names_in(value)}
    return encode([(MODEL_GRAPH, edit_graph(value, taken)) if field == MODEL_GRAPH else (field, value) for field, value in fields])


def edit_graph(data, taken):
    """`taken`: the names of all graphs, as a subgraph may read every value of the outer ones."""
    fields = decode(data)
    nodes = [decode(value) for field, value in fields if field == GRAPH_NODE]
    tensors = {name_of(tensor, TENSOR_NAME): tensor for tensor in (decode(value) for field, value in fields if field == GRAPH_INITIALIZER)}
    tensors.update((name_of(node, NODE_OUTPUT), tensor) for node in nodes for tensor in tensors_of(node))
    given = {name_of(decode(value), VALUE_NAME) for field, value in fields if field == GRAPH_INPUT}
    results = {name_of(decode(value), VALUE_NAME) for field, value in fields if field == GRAPH_OUTPUT}
    # A dequantization that is also an output, or read in a subgraph, keeps its own output for that.
    read = results | {name for node in nodes for graph in graphs_of(node) for name in names_in(graph)}
    nodes = [edit_subgraphs(node, taken) for node in nodes]
    constants = {name: name for name, tensor in tensors.items() if (TENSOR_TYPE, INT8) in tensor and name not in given}
    for node in nodes:
        source = constants.get(name_of(node, NODE_INPUT))
        if name_of(node, NODE_TYPE) == "Identity" and source is not None:
            constants[name_of(node, NODE_OUTPUT)] = source
    nodes = split_dequantizers(nodes, constants, read, taken)
    nodes, copies = split_constants(nodes, constants, taken)
    added = [(GRAPH_INITIALIZER, encode([*without(tensors[name], TENSOR_NAME), (TENSOR_NAME, own.encode())])) for name, own in copies]
    return encode([(GRAPH_NODE, encode(node)) for node in nodes] + without(fields, GRAPH_NODE) + added)


def edit_subgraphs(node, taken):
    return [(field, edit_attribute(value, taken) if field == NODE_ATTRIBUTE else value) for field, value in node]


def edit_attribute(data, taken):
    fields = decode(data)
    if not any(field in (ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS) for field, _ in fields):
        return data
    return encode([(field, edit_graph(value, taken) if field in (ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS) else value) for field, value in fields])


def tensors_of(node):
    """The tensor of a Constant."""
    if name_of(node, NODE_TYPE) != "Constant":
        return []
    attributes = [decode(value) for field, value in node if field == NODE_ATTRIBUTE]
    return [decode(value) for attribute in attributes for field, value in attribute if field == ATTRIBUTE_TENSOR]


def graphs_of(node):
    attributes = [decode(value) for field, value in node if field == NODE_ATTRIBUTE]
    return [value for attribute in attributes for field, value in attribute if field in (ATTRIBUTE_GRAPH, ATTRIBUTE_GRAPHS)]


def names_in(graph):
    """The names of all values of a graph and its subgraphs, and of those that they read."""
    fields = decode(graph)
    nodes = [decode(value) for field, value in fields if field == GRAPH_NODE]
    names = {name_of(decode(value), TENSOR_NAME) for field, value in fields if field == GRAPH_INITIALIZER}
    names |= {name_of(decode(value), VALUE_NAME) for field, value in fields if field in (GRAPH_INPUT, GRAPH_OUTPUT)}
    names |= {name for node in nodes for name in texts_of(node, NODE_INPUT) + texts_of(node, NODE_OUTPUT)}
    return names.union(*(names_in(inner) for node in nodes for inner in graphs_of(node)))


def split_dequantizers(nodes, constants, read, taken):
    """ONNX Runtime gives each reader of a DequantizeLinear one of its own, with the same constants."""
    makers = {}
    edited = []
    for node in nodes:
        own = []
        for name in texts_of(node, NODE_INPUT):
            if name in makers and name in read:
                copy = fresh(name, taken)
                # Without a name, as two nodes of one name are an error.
                edited.append(rename(without(makers[name], NODE_NAME), NODE_OUTPUT, copy))
                own.append(copy)
            else:
                own.append(name)
            read.add(name)
        node = with_inputs(node, own)
        if name_of(node, NODE_TYPE) == "DequantizeLinear" and own[0] in constants:
            makers[name_of(node, NODE_OUTPUT)] = node
        edited.append(node)
    return edited


def split_constants(nodes, constants, taken):
    """`constants`: the initializer that each name stands for, also behind Identity. @returns the nodes, and the copies: initializer and new name"""
    read, copies, edited = set(), [], []
    for node in nodes:
        if name_of(node, NODE_TYPE) == "Identity":
            edited.append(node)
            continue
        own = []
        for name in texts_of(node, NODE_INPUT):
            source = constants.get(name)
            if source in read:
                copies.append((source, fresh(name, taken)))
                name = copies[-1][1]
            elif source is not None:
                read.add(source)
            own.append(name)
        edited.append(with_inputs(node, own))
    return edited, copies


def fresh(name, taken):
    count = 1
    while f"{name}_{count}" in taken:
        count += 1
    taken.add(f"{name}_{count}")
    return f"{name}_{count}"


def texts_of(message, field):
    return [value.decode() for number, value in message if number == field]


def name_of(message, field):
    return next(iter(texts_of(message, field)), "")


def rename(message, field, name):
    return [(number, name.encode() if number == field else value) for number, value in message]


def with_inputs(node, names):
    return [(NODE_INPUT, name.encode()) for name in names] + without(node, NODE_INPUT)


def without(message, field):
    return [(number, value) for number, value in message if number != field]


def decode(data):
    """Fields of a message in their order, with an int for a varint and bytes for what has a length. The others are kept with their tag, as field None."""
    data, fields, at = memoryview(data), [], 0
    while at < len(data):
        start = at
        tag, at = read_varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = read_varint(data, at)
            fields.append((tag >> 3, value))
        elif wire == 2:
            length, at = read_varint(data, at)
            if at + length > len(data):
                raise ValueError("the model is cut off")
            fields.append((tag >> 3, bytes(data[at:at + length])))
            at += length
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
            fields.append((None, bytes(data[start:at])))
        else:
            raise ValueError(f"the model has a field of unknown kind {wire}")
    return fields


def encode(fields):
    parts = []
    for field, value in fields:
        if field is None:
            parts.append(value)
        elif isinstance(value, int):
            parts += [varint(field << 3), varint(value)]
        else:
            parts += [varint(field << 3 | 2), varint(len(value)), value]
    return b"".join(parts)


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("the model is cut off")
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7


def varint(value):
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)
