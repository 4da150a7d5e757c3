/** The constant of a Constant node, from whichever attribute holds it. */
import { encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor } from '../../../tensor/tensor.js';
import type { Constant, Node } from '../../ir/model.js';

const decoder = new TextDecoder();

/** The constant of a Constant node as an initializer would hold it; undefined if it is sparse or a reference. */
export function findConstantOf(node: Node): Constant | undefined {
  if (node.opType !== 'Constant' || node.domain !== '') return undefined;
  for (const [name, attribute] of node.attributes) {
    switch (`${name}:${attribute.kind}`) {
      case 'value:tensor':
        return attribute.kind === 'tensor' ? attribute.value : undefined;
      case 'value_int:int':
        return attribute.kind === 'int' ? encodeRawTensor(makeTensor('int64', [], BigInt64Array.of(attribute.value))) : undefined;
      case 'value_ints:ints':
        return attribute.kind === 'ints'
          ? encodeRawTensor(makeTensor('int64', [attribute.value.length], BigInt64Array.from(attribute.value)))
          : undefined;
      case 'value_float:float':
        return attribute.kind === 'float' ? encodeRawTensor(makeTensor('float32', [], Float32Array.of(attribute.value))) : undefined;
      case 'value_floats:floats':
        return attribute.kind === 'floats'
          ? encodeRawTensor(makeTensor('float32', [attribute.value.length], Float32Array.from(attribute.value)))
          : undefined;
      case 'value_string:string':
        return attribute.kind === 'string' ? makeTensor('string', [], [decoder.decode(attribute.value)]) : undefined;
      case 'value_strings:strings':
        return attribute.kind === 'strings'
          ? makeTensor(
              'string',
              [attribute.value.length],
              attribute.value.map(bytes => decoder.decode(bytes)),
            )
          : undefined;
    }
  }
  return undefined;
}
