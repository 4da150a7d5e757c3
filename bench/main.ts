/**
 * The benchmarks of Tanren.
 * `npm run bench` runs all, `npm run bench -- NAME…` runs the named ones; `--peers` fetches other tools to compare with.
 */
import { measureAdaRound } from './adaround.js';
import { measureCalibrate, measureCalibrateFullSize } from './calibrate.js';
import { measureCocoEval } from './coco-eval.js';
import { measureColdBuild } from './cold-build.js';
import { measureCompile } from './compile.js';
import { measureDetectors } from './detectors.js';
import { describeMachine, type Example, makeExample } from './example.js';
import { measureFullSizePipeline } from './full-size-pipeline.js';
import { measureGuards } from './guards.js';
import { measureLargeNoOp, measureNoOp, measureSmallGraphs } from './no-op.js';
import { measureOnnx } from './onnx.js';
import { measureDetections } from './page/detections.js';
import { measureFirstLoad } from './page/first-load.js';
import { measureIdle } from './page/idle.js';
import { measureLargeGraph } from './page/large-graph.js';
import { measureSaves } from './page/saves.js';
import { makePeers, type Peers } from './peers.js';
import { measureActionOverhead } from './remote/action-overhead.js';
import { measureRemoteCache, measureRemoteParts, measureRemoteScale, measureWarmPipeline } from './remote/remote-cache.js';
import { measureRequantize } from './requantize.js';
import { measureRestore } from './restore.js';
import { measureRoiAlign } from './roi-align.js';
import { measureSimplify } from './simplify.js';
import { measureLargeTrivialBuild, measureTrivialBuild } from './trivial-build.js';
import { measureWatch } from './watch.js';

const MEASUREMENTS: Readonly<Record<string, (example: Example, peers: Peers) => Promise<void>>> = {
  'cold-build': measureColdBuild,
  'trivial-build': measureTrivialBuild,
  'trivial-build-large': measureLargeTrivialBuild,
  'no-op': measureNoOp,
  'no-op-graphs': (_example, peers) => measureSmallGraphs(peers),
  'no-op-large': measureLargeNoOp,
  watch: measureWatch,
  restore: measureRestore,
  'remote-cache': () => measureRemoteCache(),
  'remote-scale': () => measureRemoteScale(),
  'remote-parts': () => measureRemoteParts(),
  'remote-warm': measureWarmPipeline,
  'remote-actions': () => measureActionOverhead(),
  guards: measureGuards,
  detectors: measureDetectors,
  calibrate: measureCalibrate,
  'calibrate-full-size': measureCalibrateFullSize,
  requantize: measureRequantize,
  adaround: () => measureAdaRound(),
  'roi-align': measureRoiAlign,
  compile: measureCompile,
  simplify: measureSimplify,
  onnx: measureOnnx,
  'coco-eval': measureCocoEval,
  'full-size': () => measureFullSizePipeline(),
  'page-load': measureFirstLoad,
  'page-save': measureSaves,
  'page-graph': measureLargeGraph,
  'page-detections': measureDetections,
  'page-idle': measureIdle,
};

/** Names of several measurements. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  page: ['page-load', 'page-save', 'page-graph', 'page-detections', 'page-idle'],
};

const words = process.argv.slice(2);
const named = words.filter(word => word !== '--peers').flatMap(word => GROUPS[word] ?? [word]);
const unknown = named.filter(name => !(name in MEASUREMENTS));
if (unknown.length > 0) {
  console.error(`unknown measurements: ${unknown.join(', ')}; known: ${Object.keys(MEASUREMENTS).join(', ')}`);
  process.exitCode = 2;
} else {
  console.log(`measured on ${describeMachine()}`);
  const example = makeExample();
  const peers = makePeers(words.includes('--peers') ? 'npm' : 'installed');
  try {
    for (const [name, measure] of Object.entries(MEASUREMENTS))
      if (named.length === 0 || named.includes(name)) await measure(example, peers);
  } finally {
    example.remove();
    peers.remove();
  }
}
