/** The thread of `startSides`. */
import { answerCall } from '../../src/stage/thread-call.js';
import { saveSides } from './save-sides.js';

void answerCall(saveSides);
