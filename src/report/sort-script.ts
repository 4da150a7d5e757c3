/** The script that makes tables of the page sortable: a click on a head sorts by its column, the next one turns the order, the third one restores it. */

/** Numbers are compared with their units, so that 1.2 MB is more than 300 kB. Rows without a value come last. */
export const SORT_SCRIPT = `(()=>{
const units={B:1,kB:1e3,MB:1e6,GB:1e9,'µs':1e-3,ms:1,s:1e3,min:6e4,h:36e5};
const keyOf=cell=>{const text=(cell?.textContent??'').trim().replaceAll('\\u2212','-').replace(/(\\d)[\\u202f\\u00a0,](?=\\d{3})/g,'$1');
if(text===''||text==='–'||text==='-')return undefined;
const found=/^[<+]?\\s*(-?[\\d.]+(?:e[+-]?\\d+)?)[\\s\\u202f\\u00a0]*([A-Za-zµ]*)/.exec(text);
return found===null||Number.isNaN(Number(found[1]))?text:Number(found[1])*(units[found[2]]??1)};
const compare=(a,b)=>typeof a===typeof b?(a<b?-1:a>b?1:0):typeof a==='number'?-1:1;
for(const table of document.querySelectorAll('main table')){
const body=table.tBodies[0],heads=[...(table.tHead?.rows[0]?.cells??[])];
if(!body||body.rows.length<3)continue;
const rows=[...body.rows];
for(const [index,head] of heads.entries()){
if(head.textContent.trim()==='')continue;
const button=document.createElement('button'),first=head.classList.contains('n')?'descending':'ascending';
button.type='button';button.className='sort';button.append(...head.childNodes);head.append(button);
button.addEventListener('click',()=>{
const now=head.getAttribute('aria-sort'),next=now===null?first:now===first?(first==='ascending'?'descending':'ascending'):null;
for(const one of heads)one.removeAttribute('aria-sort');
if(next===null){body.append(...rows);return}
head.setAttribute('aria-sort',next);
const sign=next==='ascending'?1:-1,keyed=rows.map(row=>[keyOf(row.cells[index]),row]);
body.append(...keyed.sort(([a],[b])=>a===undefined||b===undefined?Number(a===undefined)-Number(b===undefined):sign*compare(a,b)).map(([,row])=>row))})}}})();`;
