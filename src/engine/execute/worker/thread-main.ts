/** What a guarded thread loads before its own module. Its entry may be any module, so that all loaders are guarded. */
import { guardLoaders } from './guard-loaders.js';
import { guardDataOfThread, guardThreads } from './thread-guard.js';

const data = guardDataOfThread();
await guardLoaders(data, 'all');
guardThreads(data);
