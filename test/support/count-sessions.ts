/** Counts the sessions of ONNX Runtime that work leaves open. */
import ort from 'onnxruntime-node';

/** @returns how many of the sessions that `work` opened are not closed when it ends. Nothing else may open sessions meanwhile. */
export async function countOpenSessions(work: () => Promise<void>): Promise<number> {
  const { create } = ort.InferenceSession;
  let open = 0;
  const counting = async (...given: Parameters<typeof create>): ReturnType<typeof create> => {
    const session = await create(...given);
    const release = session.release.bind(session);
    open++;
    return Object.assign(session, {
      release: async () => {
        open--;
        await release();
      },
    });
  };
  ort.InferenceSession.create = counting as typeof create;
  try {
    await work();
  } finally {
    ort.InferenceSession.create = create;
  }
  return open;
}
