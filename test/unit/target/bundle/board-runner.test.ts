/** The bundle's Python runner against a test double of onnxruntime: its behavior, not device figures. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../../src/base/json.js';
import type { ExternalParams } from '../../../../src/runtime/device/runner-params.js';
import { openExternalRunner } from '../../../../src/runtime/external/open-external.js';
import { readNpz } from '../../../../src/tensor/formats/npz.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { smallQdqModel } from '../../../support/qdq-model.js';
import { temporaryFolder } from '../../../support/run-stage.js';
import { externalParams, testHost } from '../../../support/runner-host.js';
import { type SmallBundle, writeSmallBundle } from '../../../support/small-bundle.js';
import { describeWithPython, reportOf, runRunner, stubEnvironment } from '../../../support/stub-onnxruntime.js';

const folder = await temporaryFolder('board-runner');
afterAll(folder.remove);

let bundle: SmallBundle;
let log: string;
let runs = 0;
beforeAll(async () => {
  bundle = await writeSmallBundle(folder.path);
});
beforeEach(() => {
  log = join(folder.path, `log-${runs++}`);
  writeFileSync(log, '');
});

const onBoard = (changes: JsonObject = {}) => stubEnvironment(bundle, { log, ...changes });
const cache = (): string => join(folder.path, `cache-${runs}`);
const sessions = (): { provider: string; options: Record<string, string>; config: Record<string, string> }[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
const check = (args: readonly string[] = [], environment = onBoard()) =>
  runRunner(bundle, ['check', '--cache-dir', cache(), ...args], environment);

describeWithPython('runner.py check', () => {
  it('compares golden values, and reports the placement of nodes', () => {
    const { exitCode, stdout, stderr } = check(['--driver', '32.0.203.314']);
    expect(stderr).toContain('VitisAIExecutionProvider on stx-krk, driver 32.0.203.314');
    expect(stdout).toContain('net: y: largest difference 0, SQNR 999.0 dB');
    expect(stdout).toContain('net: 10 nodes on the NPU (VitisAIExecutionProvider), 2 nodes on the CPU (CPUExecutionProvider)');
    expect(exitCode).toBe(0);
  });

  it('passes the options of version and device to the provider, with paths and key filled in', () => {
    check(['--software', '1.7']);
    const [session] = sessions();
    expect(session?.options).toEqual({
      target: 'X2',
      cache_dir: cache(),
      cache_key: expect.stringMatching(/^[0-9a-f]{32}$/),
      enable_cache_file_io_in_mem: '0',
    });
  });

  it.each([
    ['another driver', ['--driver', '2']],
    ['another version of the software', ['--driver', '1', '--software', '1.6']],
  ])('uses another cache key for %s', (_, args) => {
    check(['--driver', '1']);
    check(args);
    check(['--driver', '1']);
    const [first, other, again] = sessions().map(({ options }) => options.cache_key);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(other).not.toBe(first);
    expect(again).toBe(first);
  });

  it('uses another cache key for another provider’s options', () => {
    const environment = onBoard({ providers: ['QNNExecutionProvider'], profile: [['y', 'QNNExecutionProvider']], report: null });
    for (const [index, mode] of ['burst', 'default', 'burst'].entries()) {
      const options = join(folder.path, `options-${index}.json`);
      writeFileSync(options, JSON.stringify({ mode, cache_key: '${CACHE_KEY}' }));
      expect(check(['--provider', 'QNNExecutionProvider', '--provider-options', options], environment).exitCode).toBe(0);
    }
    const [first, other, again] = sessions().map(({ options }) => options.cache_key);
    expect(other).not.toBe(first);
    expect(again).toBe(first);
  });

  it('uses the overlay that the machine names, and includes its digest in the key', () => {
    const overlay = join(folder.path, 'own.xclbin');
    const environment = { ...onBoard(), XLNX_VART_FIRMWARE: overlay };
    for (const content of ['first overlay', 'second overlay']) {
      writeFileSync(overlay, content);
      expect(check(['--device', 'phx-hpt', '--software', '1.3'], environment)).toMatchObject({ exitCode: 0 });
    }
    const [first, second] = sessions().map(({ options }) => options.cacheKey);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect(second).not.toBe(first);
  });

  it('fails if outputs differ from golden values, as with a stale compiled model', () => {
    const { exitCode, stderr } = check([], onBoard({ disturb: 3 }));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/error\[golden-mismatch\]: net: output y has SQNR -?[\d.]+ dB .*stale compiled model/);
  });

  it('names a slot that the device never writes', async () => {
    const pair = await writeSmallBundle(folder.path, { model: smallQdqModel(undefined, undefined, 2), choice: { dtype: 'a8w8' } });
    const environment = stubEnvironment(pair, { log, unwritten: [[1, 2]] });
    const { exitCode, stderr } = runRunner(pair, ['check', '--cache-dir', cache()], environment);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'error[unwritten-slot]: net: output y: slot 1 of 2 has the same values for two different inputs, so the device does not write it: compile with batch 1',
    );
  });

  it('names a tile that the device never writes, and not one that is written', () => {
    const tile = {
      unwritten: [
        [0, 1],
        [0, 2],
        [2, 4],
        [1, 4],
      ],
    };
    expect(check([], onBoard(tile)).stderr).toContain('error[unwritten-tile]: net: output y: rows 2 to 3, columns 1 to 3 of slot 0 have');
    const oneChannel = {
      unwritten: [
        [0, 1],
        [0, 1],
        [2, 4],
        [1, 4],
      ],
    };
    expect(check([], onBoard(oneChannel)).stderr).toContain('error[golden-mismatch]');
  });

  it('names the tile of a RoI that the device never writes, where the model runs on tiles', async () => {
    const own = await writeSmallBundle(folder.path);
    const canvas = { name: 'y', channels: 2, tile: [1, 2], pitch: [2, 2] };
    const steps = [{ model: 'net', grid: [2, 2], inputs: [], outputs: [canvas] }];
    writeFileSync(own.path('detector.json'), JSON.stringify({ recipe: { tiles: { head: { steps } } } }));
    const at = (rows: readonly number[], channels = 2) =>
      runRunner(own, ['check', '--cache-dir', cache()], stubEnvironment(own, { log, unwritten: [[0, 1], [0, channels], rows, [2, 4]] }))
        .stderr;
    expect(at([2, 3])).toContain(
      'error[unwritten-tile]: net: output y: tile 3 of 4 (row 1, column 1) has the same values for two different inputs',
    );
    expect(at([0, 1])).toContain('tile 1 of 4 (row 0, column 1)');
    expect(at([2, 3], 1)).not.toContain('unwritten-tile');
  });

  it('accepts differences from rounding', () => {
    const { exitCode, stdout } = check([], onBoard({ disturb: 0.001 }));
    expect(stdout).toMatch(/y: largest difference 0\.00\d+, SQNR [3-9]\d\.\d dB/);
    expect(exitCode).toBe(0);
  });

  it('fails if a file of the bundle is damaged', async () => {
    const damaged = await writeSmallBundle(folder.path);
    appendFileSync(damaged.path('models/net/whole.onnx'), 'x');
    const { exitCode, stderr } = runRunner(damaged, ['check'], stubEnvironment(damaged));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[bundle-damaged]: models/net/whole.onnx');
  });

  it('never falls back to the CPU on its own', () => {
    const noProvider = onBoard({ providers: ['CPUExecutionProvider'] });
    const refused = check([], noProvider);
    expect(refused).toMatchObject({ exitCode: 1, stdout: expect.not.stringContaining('net:') });
    expect(refused.stderr).toContain('error[no-device]: this onnxruntime has no VitisAIExecutionProvider');
    expect(sessions()).toEqual([]);

    const allowed = check(['--allow-cpu'], noProvider);
    expect(allowed.exitCode).toBe(0);
    expect(allowed.stderr).toContain('FALLING BACK TO THE CPU');
    expect(allowed.stdout).toMatch(/net: \d+ nodes on the CPU \(CPUExecutionProvider\)/);
    expect(sessions().map(({ provider }) => provider)).toEqual(['CPUExecutionProvider']);
  });

  it('detects a session that the provider did not accept', () => {
    const { exitCode, stderr } = check([], onBoard({ takes: 'no' }));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[fell-back]: VitisAIExecutionProvider did not accept the model');
  });

  it.each([
    ['its report', [], { report: reportOf(0, 12, 0) }],
    [
      'the profile',
      ['--provider', 'QNNExecutionProvider'],
      { providers: ['QNNExecutionProvider'], profile: [['y', 'CPUExecutionProvider']], report: null },
    ],
  ])('detects a provider that accepts the model but runs no node, by %s', (_, args, behavior) => {
    const { exitCode, stdout, stderr } = check(args, onBoard(behavior));
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/net: \d+ nodes on the CPU/);
    expect(stderr).toContain('error[fell-back]: net: no node ran on the NPU');
    expect(check([...args, '--allow-cpu'], onBoard(behavior)).exitCode).toBe(0);
  });

  it('fails if the provider wrote no report', () => {
    expect(check([], onBoard({ report: null })).stderr).toContain('error[no-report]');
  });

  it('names a missing overlay', () => {
    const { exitCode, stderr } = check(['--device', 'phx-hpt', '--software', '1.7']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[no-xclbin]: /opt/ryzen-ai/voe-4.0-win_amd64/xclbins/phoenix/4x4.xclbin does not exist');
  });

  it('includes the digest of the overlay in the key', () => {
    const installation = join(folder.path, 'ryzen-ai');
    const xclbin = join(installation, 'voe-4.0-win_amd64/xclbins/phoenix/4x4.xclbin');
    mkdirSync(join(xclbin, '..'), { recursive: true });
    const environment = { ...onBoard(), RYZEN_AI_INSTALLATION_PATH: installation };
    for (const content of ['first overlay', 'second overlay']) {
      writeFileSync(xclbin, content);
      expect(check(['--device', 'phx-hpt', '--software', '1.7'], environment).exitCode).toBe(0);
    }
    const [first, second] = sessions();
    expect(first?.options).toMatchObject({ target: 'X1', xclbin });
    expect(second?.options.cache_key).not.toBe(first?.options.cache_key);
  });

  it('reports a missing onnxruntime', () => {
    const { PYTHONPATH: _, ...without } = onBoard();
    const broken = join(folder.path, 'broken');
    mkdirSync(broken, { recursive: true });
    writeFileSync(join(broken, 'onnxruntime.py'), "raise ImportError('no library here')");
    const { exitCode, stderr } = check([], { ...without, PYTHONPATH: broken });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('error[no-onnxruntime]: no library here');
  });

  it('reports the environment that the options need', () => {
    const { RYZEN_AI_INSTALLATION_PATH: _, ...without } = onBoard();
    expect(check(['--software', '1.3'], without).stderr).toContain(
      'error[no-environment]: the options require the environment variable RYZEN_AI_INSTALLATION_PATH',
    );
  });

  it('keeps compiled models as EPContext models if requested', () => {
    check(['--ep-context']);
    const [session] = sessions();
    const key = session?.options.cache_key ?? '';
    expect(session?.config).toEqual({
      'ep.context_enable': '1',
      'ep.context_embed_mode': '0',
      'ep.context_file_path': `${cache()}/${key}/context.onnx`,
    });
    writeFileSync(join(cache(), key, 'context.onnx'), 'compiled');
    check(['--ep-context']);
    expect(sessions()[1]?.config).toEqual({});
  });

  it('counts nodes of another provider by the profile of the first run', () => {
    const profile = [
      ['fused_0', 'QNNExecutionProvider'],
      ['y_dq', 'CPUExecutionProvider'],
    ];
    const { stdout, stderr } = check(
      ['--provider', 'QNNExecutionProvider'],
      onBoard({ providers: ['QNNExecutionProvider'], profile, report: null }),
    );
    const nodes = bundle.manifest.models[0]?.nodes ?? 0;
    expect(stderr).not.toMatch(/error|Traceback/);
    expect(stdout).toContain(`net: ${nodes - 1} nodes on the NPU (QNNExecutionProvider), 1 nodes on the CPU (CPUExecutionProvider)`);
  });
});

describeWithPython('runner.py diff-report', () => {
  it('names nodes that ran on another device than predicted', () => {
    const predicted = JSON.parse(readFileSync(bundle.path('report/net.predicted.json'), 'utf8'));
    const real = structuredClone(predicted);
    real.nodeStat.find(({ output }: { output: string[] }) => output[0] === 'second').device = 'CPU';
    const path = join(folder.path, 'real.json');
    writeFileSync(path, JSON.stringify(real));
    const same = runRunner(bundle, ['diff-report', bundle.path('report/net.predicted.json'), bundle.path('report/net.predicted.json')], {});
    expect(same).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^(\d+) of \1 nodes as predicted; 0 only predicted/) });
    const differing = runRunner(bundle, ['diff-report', bundle.path('report/net.predicted.json'), path], {});
    expect(differing.exitCode).toBe(1);
    expect(differing.stdout).toContain('second (Conv): predicted NPU, ran on CPU');
  });

  it('prints the reasons of the board, and takes the former name of the NPU for the same device', () => {
    const predicted = JSON.parse(readFileSync(bundle.path('report/net.predicted.json'), 'utf8'));
    const real = structuredClone(predicted);
    for (const node of real.nodeStat) if (node.device === 'NPU') node.device = 'DPU';
    const path = join(folder.path, 'merged.json');
    writeFileSync(path, JSON.stringify(real));
    expect(runRunner(bundle, ['diff-report', bundle.path('report/net.predicted.json'), path], {}).exitCode).toBe(0);
    real.nodeStat.find(({ output }: { output: string[] }) => output[0] === 'second').device = 'CPU';
    real['x-reasons'] = [{ nodes: ['second'], findings: [{ message: 'not supported by target' }] }];
    writeFileSync(path, JSON.stringify(real));
    const { stdout } = runRunner(bundle, ['diff-report', bundle.path('report/net.predicted.json'), path], {});
    expect(stdout).toContain('second (Conv): predicted NPU, ran on CPU (board: not supported by target)');
  });
});

describeWithPython('runner.py serve', () => {
  const open = (environment: Record<string, string>, args: readonly string[] = [], changes: Partial<ExternalParams> = {}) =>
    openExternalRunner(
      externalParams(['python3', './bundle/runner.py', '--cache-dir', cache(), '--driver', '32.0.203.314', ...args], changes),
      { bundle: bundle.folder },
      testHost(folder.path, environment),
    );
  const goldenInput = async () => {
    const [sample] = bundle.manifest.models[0]?.golden ?? [];
    const archive = await readNpz(bundle.path(sample?.file ?? ''));
    const of = (role: string) => archive.get(sample?.arrays.find(array => array.role === role)?.array ?? '');
    return { x: of('input'), y: of('output') };
  };

  it('implements the protocol: identity, model, runs, times and placement', async () => {
    const runner = await open(onBoard());
    expect(runner.identity).toEqual({
      runner: { name: 'tanren-bundle-runner', version: '1' },
      provider: 'VitisAIExecutionProvider',
      device: { kind: 'npu', name: 'stx-krk', driver: '32.0.203.314' },
      versions: { onnxruntime: '0.0.stub', 'ryzen-ai': '1.8' },
    });
    const session = await runner.open(bundle.path('models/net/whole.onnx'), { optimization: 'all' });
    const { x, y } = await goldenInput();
    const { outputs, durationsMs } = await session.measure({ x }, { warmup: 1, repeats: 3 });
    expect(outputs.y?.dims).toEqual([1, 2, 4, 4]);
    expect([...(outputs.y?.data as Float32Array)]).toEqual([...(y.data as Float32Array)]);
    expect(durationsMs).toHaveLength(3);
    expect(session.placement).toEqual([
      { device: 'npu', provider: 'VitisAIExecutionProvider', nodes: 10 },
      { device: 'cpu', provider: 'CPUExecutionProvider', nodes: 2 },
    ]);
    await session.close();
    await runner.close();
    expect(readdirSync(bundle.folder)).not.toContain('__pycache__');
  });

  it('accepts a model sent as bytes', async () => {
    const runner = await open(onBoard(), [], { models: 'bytes' });
    const session = await runner.open(bundle.path('models/net/whole.onnx'), { optimization: 'all' });
    const { x } = await goldenInput();
    expect((await session.run({ x })).y?.dims).toEqual([1, 2, 4, 4]);
    await runner.close();
  });

  it('runs a model with a free batch in batches of the bundle’s fixed one', async () => {
    const free = await writeSmallBundle(folder.path, { source: smallQdqModel(undefined, undefined, 'rois') });
    const command = ['python3', './bundle/runner.py', '--cache-dir', cache(), '--driver', '1'];
    const host = testHost(folder.path, stubEnvironment(free, { log }));
    const runner = await openExternalRunner(externalParams(command), { bundle: free.folder }, host);
    const session = await runner.open(free.sourcePath, { optimization: 'all' });
    const { x, y } = await goldenInput();
    for (const rows of [3, 1, 0]) {
      const data = Float32Array.from({ length: 32 * rows }, (_, at) => (x.data as Float32Array)[at % 32] ?? 0);
      const running = session.run({ x: makeTensor('float32', [rows, 2, 4, 4], data) });
      // The double cannot tell padding rows of zeros from data.
      if (rows === 0) await expect(running).rejects.toMatchObject({ message: expect.stringContaining('nothing was recorded') });
      else {
        const outputs = await running;
        expect(outputs.y?.dims).toEqual([rows, 2, 4, 4]);
        expect([...(outputs.y?.data as Float32Array)]).toEqual(Array.from({ length: rows }, () => [...(y.data as Float32Array)]).flat());
      }
    }
    await runner.close();
  });

  it('reports an error of the provider', async () => {
    const runner = await open(onBoard(), ['--no-golden']);
    const session = await runner.open(bundle.path('models/net/whole.onnx'), { optimization: 'all' });
    const { x } = await goldenInput();
    const zeros = { ...x, data: new Float32Array(32) };
    await expect(session.run({ x: zeros as typeof x })).rejects.toMatchObject({
      code: 'runner-refused',
      message: expect.stringContaining('nothing was recorded for these inputs'),
    });
    await runner.close();
  });

  it('opens no session of a model whose golden values differ', async () => {
    const runner = await open(onBoard({ disturb: 3 }));
    const opening = runner.open(bundle.path('models/net/whole.onnx'), { optimization: 'all' });
    await expect(opening).rejects.toMatchObject({ code: 'runner-refused', message: expect.stringContaining('against the golden one') });
    await runner.close();
  });

  it('refuses to start without the device, unless the stage or its arguments allow the CPU', async () => {
    const without = onBoard({ providers: ['CPUExecutionProvider'] });
    await expect(open(without)).rejects.toMatchObject({
      code: 'runner-refused',
      message: expect.stringContaining('only with --allow-cpu'),
    });
    await expect(open(without, ['--allow-cpu'])).rejects.toMatchObject({ code: 'runner-cpu-fallback' });
    const allowed = await open(without, [], { cpuFallback: 'allow' });
    expect(allowed.identity).toMatchObject({ provider: 'CPUExecutionProvider', device: { kind: 'cpu', name: 'cpu' } });
    await allowed.close();
  });

  it('is detected if the report lists the nodes on the CPU', async () => {
    const runner = await open(onBoard({ report: reportOf(0, 12, 0) }));
    const session = await runner.open(bundle.path('models/net/whole.onnx'), { optimization: 'all' });
    const { x } = await goldenInput();
    await expect(session.run({ x })).rejects.toMatchObject({
      code: 'runner-cpu-fallback',
      message: expect.stringContaining('no node ran on the NPU'),
    });
    await runner.close();
  });
});
