/**
 * Tests run as compiled ES modules out of dist/, in projects of growing cost: see `npm test`, `test:slow`, `test:conformance`, `test:remote`, `test:ui`.
 * Timeouts end what hangs; they say nothing about speed, and are long enough for a slow machine that does other things too.
 */
const base = {
  rootDir: 'dist',
  testEnvironment: '<rootDir>/test/support/environment.js',
  transform: {},
};

const suites = {
  default: { testMatch: ['<rootDir>/test/**/*.test.js'], testTimeout: 240_000 },
  slow: { testMatch: ['<rootDir>/test/**/*.slow.js'], testTimeout: 900_000 },
  // Remote caches: faults, and real servers where their packages are installed.
  remote: { testMatch: ['<rootDir>/test/**/*.remote.js'], testTimeout: 300_000 },
  // The page of `tanren ui` in a browser.
  ui: { testMatch: ['<rootDir>/test/**/*.ui.js'], testTimeout: 120_000 },
  conformance: { testMatch: ['<rootDir>/test/**/*.conformance.js'], testTimeout: 900_000 },
};

const suite = suites[process.env.TANREN_SUITE ?? 'default'];
if (suite === undefined)
  throw new Error(`unknown TANREN_SUITE "${process.env.TANREN_SUITE}": use default, slow, conformance, remote or ui`);

export default {
  ...base,
  ...suite,
  maxWorkers: '100%',
  testSequencer: '<rootDir>/../scripts/long-files-first.cjs',
  reporters: ['default', '<rootDir>/test/support/tally-reporter.js'],
};
