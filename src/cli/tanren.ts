#!/usr/bin/env node
/** The executable: runs `main` and leaves with its exit code. */
import { main } from './main.js';

process.exitCode = await main(process.argv.slice(2));
