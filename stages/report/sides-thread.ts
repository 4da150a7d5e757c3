/** The thread of `startSides`. */
import { answerCall } from '../../src/stage/thread-call.js';
import { drawSides } from './draw-sides.js';

void answerCall(drawSides);
