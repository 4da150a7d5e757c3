/** Types of the ECharts bundle, a single file that loads eight times as fast as its modules. */
declare module 'echarts/dist/echarts.esm.min.mjs' {
  export { init } from 'echarts/core';
}
