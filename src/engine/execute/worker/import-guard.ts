/** Installation of ES module loader hooks for Node before 22.15, where they run in a separate thread. Loaded only if they are needed. */
import { register } from 'node:module';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { LoadRule, RefusedModule } from './load-rule.js';

/** @returns a function that returns the first refused module, if there is one. */
export function guardImports(rule: LoadRule, installRoot: string): () => RefusedModule | undefined {
  const { port1, port2 } = new MessageChannel();
  port1.unref();
  register(new URL('./module-hooks.js', import.meta.url), { data: { rule, installRoot, port: port2 }, transferList: [port2] });
  return () => {
    const received: { message: RefusedModule } | undefined = receiveMessageOnPort(port1);
    return received?.message;
  };
}
