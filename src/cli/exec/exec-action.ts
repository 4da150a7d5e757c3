/** Composition of `exec-action`: the runner of one action, with the class of this machine and the plugins that only start programs. */

import { command } from '../../../stages/command/stage.js';
import { execAction } from '../../engine/execute/remote/exec-action.js';
import { encodeMessage } from '../../engine/execute/remote/execution-messages.js';

/** Runs the action of an input root. @returns the exit code. */
export function runExecAction(root: string, installRoot: string, signal: AbortSignal): Promise<number> {
  return execAction(root, {
    installRoot,
    environment: process.env,
    platformClass: async () => (await import('../../runtime/platform/platform-class.js')).computePlatformClass(),
    findInProcess: name => (name === command.name ? command : undefined),
    say: message => void process.stdout.write(encodeMessage(message)),
    signal,
  });
}
