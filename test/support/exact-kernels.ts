/** How int8 models run exactly here, for comparisons with figures that were recorded on processors with VNNI. */
import { addsExactly } from '../../src/runtime/platform/integer-kernels.js';

/** The highest level at which ONNX Runtime computes what an int8 model says: above `basic` it has integer kernels, which saturate without VNNI. */
export async function exactLevel(): Promise<'all' | 'basic'> {
  return (await addsExactly()) ? 'all' : 'basic';
}
