/** Sessions that several users of one model file share, so that its weights are in memory once. */
import { stat } from 'node:fs/promises';
import type { OpenModel, Session } from './session.js';

interface Shared {
  readonly session: Promise<Session>;
  users: number;
}

/**
 * Opens a file once for all users that give the same session options, under any of its paths, and closes it with its last user.
 * Models given as bytes are opened for each user.
 */
export function shareSessions(open: OpenModel): OpenModel {
  const opened = new Map<string, Shared>();
  return async (model, options) => {
    if (typeof model !== 'string') return open(model, options);
    const file = await stat(model).catch(() => undefined);
    // The error of `open` says more of a file that is not there.
    if (file === undefined) return open(model, options);
    const key = JSON.stringify([file.dev, file.ino, options]);
    const shared = opened.get(key) ?? { session: open(model, options), users: 0 };
    shared.users++;
    opened.set(key, shared);
    const release = async (): Promise<void> => {
      if (--shared.users > 0) return;
      opened.delete(key);
      await (await shared.session).close();
    };
    try {
      return { ...(await shared.session), close: callOnce(release) };
    } catch (error) {
      if (opened.get(key) === shared) opened.delete(key);
      throw error;
    }
  };
}

function callOnce(call: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => {
    result ??= call();
    return result;
  };
}
