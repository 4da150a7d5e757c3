/** What does a start that finds nothing to do need? The build puts all that these two reach into one file: opening many costs more than reading one. */
import './commands/build.js';
import './main.js';
