/** Why a stage is not up to date whose result came with an archive or a shared cache, or outlived the state of the checkout. */
export const ONLY_CACHED = 'not built in this checkout; the cache has its result';
