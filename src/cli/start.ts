/**
 * The modules that a start with nothing to do needs. The build bundles everything that these two import into one file,
 * because opening many files takes longer than reading one.
 */
import './commands/build/build.js';
import './main.js';
