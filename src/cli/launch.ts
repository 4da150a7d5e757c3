#!/usr/bin/env node
/** The executable: answers at once where it can; else it loads the command line. */
import { answerQuickly } from './quick-answer.js';

if (!answerQuickly(process.argv.slice(2))) void import('./tanren.js');
