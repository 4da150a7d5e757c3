/** Tests run as compiled ES modules out of dist/, in three projects of growing cost: see `npm test`, `test:slow`, `test:conformance`. */
const base = {
  rootDir: 'dist',
  testEnvironment: '<rootDir>/test/support/environment.js',
  transform: {},
};

const suites = {
  default: { testMatch: ['<rootDir>/test/**/*.test.js'] },
  slow: { testMatch: ['<rootDir>/test/**/*.slow.js'] },
  conformance: { testMatch: ['<rootDir>/test/**/*.conformance.js'] },
};

const suite = suites[process.env.TANREN_SUITE ?? 'default'];
if (suite === undefined) throw new Error(`unknown TANREN_SUITE "${process.env.TANREN_SUITE}": use default, slow or conformance`);

export default {
  ...base,
  ...suite,
  maxWorkers: '100%',
  testTimeout: 120_000,
  reporters: ['default', '<rootDir>/test/support/tally-reporter.js'],
};
