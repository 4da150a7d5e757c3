"""
Gives each reader of an int8 constant its own. Where sums of int8 weights would saturate, ONNX Runtime makes the weights uint8 at each reader,
under a name derived from the constant's: it does not load a model with two readers of one. Edits the bytes of a model, as boards have no package onnx.
"""

# Fields of ONNX's messages.
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT = 1, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_NAME, NODE_TYPE = 1, 2, 3, 4
TENSOR_TYPE, TENSOR_NAME = 2, 8
VALUE_NAME = 1
INT8 = 3


def give_own_constants(model):
    """@returns the bytes of a model with the same results, in which int8 initializers and their dequantizations have one reader each"""
    return encode([(MODEL_GRAPH, edit_graph(value)) if field == MODEL_GRAPH else (field, value) for field, value in decode(model)])


def edit_graph(data):
    fields = decode(data)
    nodes = [decode(value) for field, value in fields if field == GRAPH_NODE]
    tensors = {name_of(tensor, TENSOR_NAME): tensor for tensor in (decode(value) for field, value in fields if field == GRAPH_INITIALIZER)}
    given = {name_of(decode(value), VALUE_NAME) for field, value in fields if field == GRAPH_INPUT}
    results = {name_of(decode(value), VALUE_NAME) for field, value in fields if field == GRAPH_OUTPUT}
    taken = set(tensors) | given | {name for node in nodes for name in texts_of(node, NODE_OUTPUT)}
    constants = {name: name for name, tensor in tensors.items() if (TENSOR_TYPE, INT8) in tensor and name not in given}
    for node in nodes:
        source = constants.get(name_of(node, NODE_INPUT))
        if name_of(node, NODE_TYPE) == "Identity" and source is not None:
            constants[name_of(node, NODE_OUTPUT)] = source
    nodes = split_dequantizers(nodes, constants, set(results), taken)
    nodes, copies = split_constants(nodes, constants, taken)
    added = [(GRAPH_INITIALIZER, encode(rename(tensors[name], TENSOR_NAME, own))) for name, own in copies]
    kept = [(field, value) for field, value in fields if field != GRAPH_NODE]
    return encode([(GRAPH_NODE, encode(node)) for node in nodes] + kept + added)


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
                edited.append(rename([part for part in makers[name] if part[0] != NODE_NAME], NODE_OUTPUT, copy))
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
    return [(NODE_INPUT, name.encode()) for name in names] + [(number, value) for number, value in node if number != NODE_INPUT]


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
