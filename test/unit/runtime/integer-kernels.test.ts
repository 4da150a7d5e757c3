/** Whether integer kernels add exactly, against what the processor says of itself. */
import { readFileSync } from 'node:fs';
import { addsExactly } from '../../../src/runtime/session/integer-kernels.js';

const onLinux = process.platform === 'linux' && process.arch === 'x64' ? it : it.skip;
onLinux('on x86-64 they do where the processor has VNNI', async () => {
  expect(await addsExactly()).toBe(/\b(avx512_vnni|avx_vnni|avx512vnni)\b/.test(readFileSync('/proc/cpuinfo', 'utf8')));
});
