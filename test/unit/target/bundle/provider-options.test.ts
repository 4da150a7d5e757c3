/** Provider options against AMD's documentation of each version. */
import { listRyzenAiOptions } from '../../../../src/target/bundle/provider-options.js';

const all = listRyzenAiOptions();
const find = (version: string, device: string) => all.find(row => row.version === version && row.device === device);

describe('options of Ryzen AI', () => {
  it('exist once for each version and device that the version supports', () => {
    const versions = ['1.1', '1.2', '1.3', '1.4', '1.5', '1.5.1', '1.6', '1.6.1', '1.7', '1.7.1', '1.8'];
    // 1.8 ships no overlay for Phoenix and Hawk Point.
    expect(all.filter(row => row.device === 'phx-hpt').map(row => row.version)).toEqual(versions.slice(0, -1));
    expect(all.filter(row => row.device === 'stx-krk').map(row => row.version)).toEqual(versions.slice(1));
  });

  it('name a source for each row', () => {
    for (const { sources } of all) {
      expect(sources.length).toBeGreaterThan(0);
      for (const source of sources) expect(source).toMatchObject({ kind: expect.any(String), ref: expect.stringMatching(/^https:/) });
    }
  });

  it.each([
    '1.1',
    '1.2',
    '1.3',
  ])('up to 1.3 have a configuration file, camel case names, and the overlay in the environment (%s)', version => {
    expect(find(version, 'phx-hpt')).toMatchObject({
      providerOptions: { config_file: expect.stringContaining('vaip_config.json'), cacheDir: '${CACHE_DIR}', cacheKey: '${CACHE_KEY}' },
      environment: { XLNX_TARGET_NAME: 'AMD_AIE2_Nx4_Overlay', XLNX_VART_FIRMWARE: expect.stringMatching(/1x4\.xclbin$/) },
      sessionOptions: {},
    });
  });

  it('have the overlay as an option in 1.4 and 1.5, and EPContext from 1.4 on', () => {
    expect(find('1.4', 'stx-krk')?.providerOptions.xclbin).toMatch(/strix\/AMD_AIE2P_Nx4_Overlay\.xclbin$/);
    expect(find('1.5', 'stx-krk')?.providerOptions.xclbin).toMatch(/strix\/AMD_AIE2P_4x4_Overlay\.xclbin$/);
    expect(find('1.5', 'phx-hpt')?.providerOptions.xclbin).toMatch(/phoenix\/4x4\.xclbin$/);
    expect(find('1.5', 'phx-hpt')?.environment).not.toHaveProperty('XLNX_VART_FIRMWARE');
    expect(find('1.4', 'phx-hpt')?.sessionOptions).toMatchObject({ 'ep.context_enable': '1' });
  });

  it.each(['1.6', '1.6.1', '1.7', '1.7.1', '1.8'])('have a target from 1.6 on: X2 without an overlay, X1 with one (%s)', version => {
    expect(find(version, 'stx-krk')?.providerOptions).toMatchObject({ target: 'X2', enable_cache_file_io_in_mem: '0' });
    expect(find(version, 'stx-krk')?.providerOptions).not.toHaveProperty('xclbin');
    if (version === '1.8') return;
    expect(find(version, 'phx-hpt')?.providerOptions).toMatchObject({
      target: 'X1',
      xclbin: expect.stringMatching(/phoenix\/4x4\.xclbin$/),
    });
  });

  it.each([
    '1.5',
    '1.5.1',
    '1.6',
    '1.6.1',
    '1.7',
    '1.7.1',
    '1.8',
  ])('request the report, which is the default only before 1.5 (%s)', version => {
    for (const device of version === '1.8' ? ['stx-krk'] : ['phx-hpt', 'stx-krk'])
      expect(find(version, device)?.environment.XLNX_ONNX_EP_REPORT_FILE).toBe('vitisai_ep_report.json');
    expect(find('1.4', 'phx-hpt')?.environment).toEqual({});
  });

  it.each([
    ['opt_level', '65536', '1.5', '1.8'],
    ['log_level', 'warning', '1.5', '1.6.1'],
    ['ai_analyzer_profiling', 'True', '1.4', '1.8'],
    ['target', 'X1', '1.6', '1.8'],
  ])('take %s from the version that documents it, to the last one', (name, value, first, last) => {
    const versions = ['1.4', '1.5', '1.5.1', '1.6', '1.6.1', '1.7', '1.7.1', '1.8'];
    const isTaken = (version: string): boolean => {
      try {
        const rows = listRyzenAiOptions({ version, device: 'stx-krk', providerOptions: { [name]: value } });
        return rows.some(row => row.version === version && row.providerOptions[name] === value);
      } catch {
        return false;
      }
    };
    expect(versions.filter(isTaken)).toEqual(versions.slice(versions.indexOf(first), versions.indexOf(last) + 1));
  });
});
