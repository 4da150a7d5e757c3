/** The style sheet of the page. */
import { declareColors } from './colors.js';

export const STYLE = `
${declareColors()}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%;scroll-padding-top:5rem}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header,main,footer{max-width:1120px;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.25rem}
footer{padding:2rem 1.25rem 3rem;color:var(--soft);font-size:13px}
h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.015em;margin:0 0 .35rem;font-weight:650;overflow-wrap:anywhere}
h2{font-size:1.25rem;line-height:1.3;letter-spacing:-.01em;margin:0 0 .35rem;font-weight:650}
h3{font-size:1rem;line-height:1.4;margin:1.75rem 0 .35rem;font-weight:650;overflow-wrap:anywhere}
p{margin:.35rem 0 .9rem;max-width:46rem}
section{padding:1.9rem 0 .4rem;border-top:1px solid var(--line);margin-top:1.9rem}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
section>p:first-of-type,.soft{color:var(--soft)}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:2px}
a:focus-visible,summary:focus-visible,button:focus-visible,.scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:3px}
code,.mono{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
.view-links a{margin-right:.5rem}
.to-view{font-size:13px}
nav{position:sticky;top:0;z-index:2;background:var(--paper);border-bottom:1px solid var(--line)}
nav div{max-width:1120px;margin:0 auto;padding:0 1.25rem;display:flex;flex-wrap:wrap;gap:0 .8rem;align-items:center;padding-block:.3rem}
nav a{color:var(--soft);text-decoration:none;font-size:13.5px;white-space:nowrap;padding:.3rem 0}
nav a:hover{color:var(--ink);text-decoration:underline}
nav button{margin-left:auto;flex:none}
button{font:inherit;font-size:13px;color:var(--soft);background:none;border:1px solid var(--line);border-radius:6px;padding:.2rem .6rem;cursor:pointer}
button:hover{color:var(--ink);border-color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(15.5rem,1fr));gap:.75rem;margin:1.35rem 0 0;padding:0}
.tile{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem .9rem;margin:0;display:flex;flex-direction:column;min-width:0}
.tile dt{color:var(--soft);font-size:13px}
.tile dd{margin:0;overflow-wrap:anywhere}
.tile .value{font-size:1.4rem;line-height:1.35;font-weight:600;letter-spacing:-.01em;font-variant-numeric:tabular-nums}
.tile .note{color:var(--soft);font-size:13px;line-height:1.4}
.gates{list-style:none;margin:1rem 0 0;padding:0}
.gates li{padding:.15rem 0}
.badge{display:inline-block;font-size:12px;line-height:1.3;padding:.1rem .45rem;border-radius:4px;border:1px solid currentColor;white-space:nowrap;font-weight:550}
.good{color:var(--green)}.bad{color:var(--red)}.warn{color:var(--orange)}.info{color:var(--blue)}.mute{color:var(--soft)}
.scroll{overflow-x:auto;max-width:100%;margin:.75rem 0 1rem}
.scroll,summary,.chart{border-radius:3px}
table{border-collapse:collapse;font-size:13.5px;line-height:1.4;min-width:min(100%,34rem)}
caption{text-align:left;color:var(--soft);font-size:13.5px;padding:0 0 .5rem;caption-side:top;max-width:46rem}
th,td{padding:.32rem .9rem .32rem 0;text-align:left;vertical-align:baseline;border-bottom:1px solid var(--line);font-weight:400}
th:last-child,td:last-child{padding-right:.2rem}
thead th{color:var(--soft);font-weight:550;border-bottom-color:var(--soft);white-space:nowrap;vertical-align:bottom}
tbody th{font-weight:500}
button.sort{border:0;padding:0;background:none;color:inherit;font:inherit;text-align:inherit;white-space:inherit}
button.sort:hover{text-decoration:underline}
th[aria-sort=ascending] .sort::after{content:" ▴";content:" ▴" / ""}th[aria-sort=descending] .sort::after{content:" ▾";content:" ▾" / ""}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.t{max-width:26rem}
.figure{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:.9rem 1rem;margin:.9rem 0 1.1rem;min-width:0}
.figure>.scroll{margin:0}
.figure figcaption{color:var(--soft);font-size:13.5px;margin-bottom:.6rem;max-width:46rem}
figure{margin:0}
.chart svg{display:block;width:100%;height:auto}
.chart text,.graph text{font-family:inherit}
.chart-narrow{display:none}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;margin:0 0 .4rem;padding:0;font-size:13px;color:var(--soft)}
.legend svg{width:22px;height:12px;margin-right:.4rem;vertical-align:-1px}
details{border-bottom:1px solid var(--line)}
details.plain{border:0;margin:.3rem 0 1rem}
summary{cursor:pointer;padding:.5rem 0;overflow-wrap:anywhere}
summary:hover{color:var(--link)}
.tensors{border-top:1px solid var(--line);margin:.75rem 0 1.25rem}
.tensors summary{display:grid;grid-template-columns:1rem minmax(0,1fr) repeat(3,6.2rem);gap:.6rem;align-items:baseline;list-style:none;font-size:13.5px}
.tensors summary::-webkit-details-marker{display:none}
.tensors summary::before{content:"▸";color:var(--soft)}
.tensors details[open] summary::before{content:"▾"}
.tensors summary .n{text-align:right}.tensors .head .n{white-space:normal}
.tensors .head{display:grid;grid-template-columns:1rem minmax(0,1fr) repeat(3,6.2rem);gap:.6rem;color:var(--soft);font-size:13px;font-weight:550;padding:.35rem 0;border-bottom:1px solid var(--soft)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.35rem 1.25rem;margin:.2rem 0 1rem;font-size:13.5px}
.facts div{min-width:0}
.facts dt{color:var(--soft);font-size:12.5px}
.facts dd{margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.graph svg{display:block}.strips+.graph{margin-top:.9rem}
.box rect{fill:var(--raised);stroke:var(--line)}
.box .strip{stroke:none;fill:var(--soft)}
.box text{font-size:11.5px;fill:var(--soft)}
.box .title{font-size:12.5px;font-weight:600;fill:var(--ink)}
.box.executed .strip{fill:var(--orange)}.box.restored .strip{fill:var(--blue)}.box.up-to-date .strip,.box.npu .strip{fill:var(--green)}
.box.cpu .strip{fill:var(--orange)}.box.edge-unit .strip{fill:var(--soft)}
.box.cpu rect:first-of-type{stroke:var(--orange);stroke-dasharray:5 3}
.edge{fill:none;stroke:var(--soft);stroke-width:1.2}
marker path{fill:var(--soft)}
.strips{display:block;width:100%;height:34px}
.bar{display:inline-block;height:.6em;background:var(--blue);border-radius:2px;vertical-align:baseline;margin-right:.5em;opacity:.75}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:1rem}
.pair figure{min-width:0}
.pair figcaption{font-size:13.5px;color:var(--soft);margin:0 0 .35rem}
.pair svg{display:block;width:100%;height:auto;border-radius:4px;background:var(--raised)}
tr:has(.cut-outs)>*{vertical-align:middle}.cut-outs{display:flex;gap:.4rem}.cut-outs svg{display:block;width:7rem;height:auto;border-radius:3px;background:var(--raised)}
.mask{fill-opacity:.38;stroke-opacity:.9}
.lone{stroke-dasharray:4 3}
.sample{margin:1.2rem 0 2rem}
@media (max-width:640px){
caption{max-width:calc(100vw - 2rem)}td.t{min-width:7.5rem}
header{padding-top:1.5rem}h1{font-size:1.45rem}
header,main,footer,nav div{padding-left:1rem;padding-right:1rem}
nav div{flex-wrap:nowrap;overflow-x:auto;scrollbar-width:thin}
.chart-wide{display:none}.chart-narrow{display:block}
.figure{padding:.7rem .75rem}
.tiles{grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:.5rem}
.tile{padding:.65rem .8rem}.tile .value{font-size:1.2rem}
.tensors summary,.tensors .head{grid-template-columns:1rem minmax(0,1fr) 4.2rem}
.tensors .minor{display:none}
}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{nav{display:none}.scroll{overflow:visible}section{break-inside:auto}.figure{break-inside:avoid}}
`;
