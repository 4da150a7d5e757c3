/**
 * Writes test/fixtures/artifact-bytes/record.json.gz with another installation: `node dist/test/support/record-artifacts.js <its dist folder> <its commit>`.
 * Run it only for a change that is meant to change bytes.
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { computePlatformClass } from '../../src/runtime/platform/platform-class.js';
import { type ArtifactRecord, type PipelineRecord, RECORD_FILE, RECORDED, recordPipeline } from './artifact-record.js';

const [dist, commit] = process.argv.slice(2);
if (dist === undefined || commit === undefined) throw new Error('expected the dist folder of an installation, and its commit');
const pipelines: Record<string, PipelineRecord> = {};
for (const name of Object.keys(RECORDED)) pipelines[name] = await recordPipeline(name, resolve(dist));
const record: ArtifactRecord = { commit, platform: await computePlatformClass(), pipelines };
writeFileSync(RECORD_FILE, gzipSync(JSON.stringify(record), { level: 9 }));
