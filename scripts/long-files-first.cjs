/** The order in which jest starts test files: the longest first, so that no worker runs a long file alone at the end. */
const { default: Sequencer } = require('@jest/test-sequencer');

/** Files that run for about ten seconds or more, longest first, by their path below test/ without `.js`. The others follow in jest's order. */
const LONG_FILES = [
  // The slow suite.
  'e2e/scenarios.slow',
  'e2e/default-pipeline.slow',
  'e2e/yolact-pipelines.slow',
  'e2e/maskscoring-pipeline.slow',
  'e2e/engine/damage-rounds.slow',
  'e2e/engine/crash-points.slow',
  'e2e/engine/attack-rounds.slow',
  // The conformance suite.
  'conformance/quant/yolact-int8.conformance',
  'conformance/quant/int8-detector.conformance',
  'conformance/quant/mask-scoring-int8.conformance',
  'conformance/quant/detector-sqnr.conformance',
  'conformance/target/partition.conformance',
  'conformance/models/pipelines.conformance',
  // The default suite.
  'e2e/scenarios.test',
  'unit/stages/verify.test',
  'unit/target/bundle/board-runner.test',
  'unit/stages/calibrate.test',
  'e2e/bad-plugin.test',
];

function rankOf(path) {
  const rank = LONG_FILES.findIndex(name => path.endsWith(`/test/${name}.js`));
  return rank === -1 ? LONG_FILES.length : rank;
}

class LongFilesFirst extends Sequencer {
  async sort(tests) {
    return [...(await super.sort(tests))].sort((one, other) => rankOf(one.path) - rankOf(other.path));
  }
}

module.exports = Object.assign(LongFilesFirst, { LONG_FILES });
