/** How fast is Tanren on this machine? `npm run bench` measures everything, `npm run bench -- NAME…` what is named. */
import { measureCalibrate, measureCalibrateFullSize } from './calibrate.js';
import { measureColdBuild } from './cold-build.js';
import { measureCompile } from './compile.js';
import { measureDetectors } from './detectors.js';
import { describeMachine, type Example, makeExample } from './example.js';
import { measureGuards } from './guards.js';
import { measureNoOp } from './no-op.js';
import { measureOnnx } from './onnx.js';
import { measureRequantize } from './requantize.js';
import { measureRoiAlign } from './roi-align.js';
import { measureSimplify } from './simplify.js';

const MEASUREMENTS: Readonly<Record<string, (example: Example) => Promise<void>>> = {
  'cold-build': measureColdBuild,
  'no-op': measureNoOp,
  guards: measureGuards,
  detectors: measureDetectors,
  calibrate: measureCalibrate,
  'calibrate-full-size': measureCalibrateFullSize,
  requantize: measureRequantize,
  'roi-align': measureRoiAlign,
  compile: measureCompile,
  simplify: measureSimplify,
  onnx: measureOnnx,
};

const named = process.argv.slice(2);
const unknown = named.filter(name => !(name in MEASUREMENTS));
if (unknown.length > 0) {
  console.error(`no measurement is called ${unknown.join(', ')}; there are ${Object.keys(MEASUREMENTS).join(', ')}`);
  process.exitCode = 2;
} else {
  console.log(`measured on ${describeMachine()}`);
  const example = makeExample();
  try {
    for (const [name, measure] of Object.entries(MEASUREMENTS)) if (named.length === 0 || named.includes(name)) await measure(example);
  } finally {
    example.remove();
  }
}
