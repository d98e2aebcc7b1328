#include "triage/report/report_sections.h"

namespace mmafuzz {

const char report_page[] = R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>mmafuzz: {{verdict}}</title>
<link rel="icon" href="data:,">
<style>
:root{--ground:#fff;--ink:#1c2127;--quiet:#57606a;--box:#f5f6f8;--edge:#d8dde3;--contract:#b42318;--accuracy:#8a5a00;--semantic:#1f5fae;--good:#1a6f3c;
--fallen:#c0392b;--carry:#8a5a00;--heat:200,60,30;--line0:#1f5fae;--line1:#b4541a;--line2:#1a7f5a;--line3:#8e44ad;--line4:#b42318;--line5:#6b6f00;--line6:#00788a;--line7:#7a4b2a}
@media(prefers-color-scheme:dark){:root{--ground:#12161b;--ink:#e3e8ee;--quiet:#9aa7b4;--box:#1b2128;--edge:#323b45;--contract:#ff8a7a;--accuracy:#e6b450;--semantic:#7fb2ff;
--good:#6fd39a;--fallen:#ff7b6b;--carry:#f0c060;--heat:230,90,60;--line0:#7fb2ff;--line1:#ffae70;--line2:#6fd3a8;--line3:#d3a0ff;--line4:#ff8a7a;--line5:#d6d860;--line6:#6cd6e6;--line7:#d8b090}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,"DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:20px 16px 60px}
h1{font-size:1.5rem;line-height:1.25;margin:.3em 0 .6em}
h2{font-size:1.2rem;margin:2.2em 0 .6em;padding-bottom:.25em;border-bottom:1px solid var(--edge)}
h3{font-size:1rem;margin:1.4em 0 .5em}
p,li,dd,td,th,h1,h2,h3,summary{overflow-wrap:anywhere}
.brand,.quiet{color:var(--quiet)}.brand{font-weight:600;letter-spacing:.02em}
.contract{color:var(--contract)}.accuracy{color:var(--accuracy)}.semantic{color:var(--semantic)}.good{color:var(--good)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px;margin:0 0 1em}
.tile{background:var(--box);border:1px solid var(--edge);border-radius:8px;padding:10px 14px}
.tile b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
code,pre,.mono{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:.84rem}
code{overflow-wrap:anywhere}
pre,.scroll{overflow-x:auto;background:var(--box);border:1px solid var(--edge);border-radius:8px;padding:10px 12px;margin:.5em 0}
pre{line-height:1.4}
.bucket{border:1px solid var(--edge);border-left:4px solid currentColor;border-radius:8px;padding:12px 14px;margin:0 0 14px}
.bucket>*{color:var(--ink)}
.bucket header{display:flex;flex-wrap:wrap;gap:4px 12px;align-items:baseline}
.bucket header b{font-size:1.05rem;overflow-wrap:anywhere}
.bucket p{margin:.35em 0}
.bucket .quiet{color:var(--quiet)}
nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 1em}
a{color:var(--semantic)}
.pill{border:1px solid var(--edge);border-radius:99px;padding:0 9px;font-size:.82rem;color:var(--quiet)}
.bucket header h3{margin:0;font-size:1.05rem}
.section>summary h2{display:inline-block;margin:1.4em 0 .6em;border:0;color:var(--ink)}
.search input{font:inherit;color:var(--ink);background:var(--box);border:1px solid var(--edge);border-radius:6px;padding:4px 8px;max-width:100%}
button{font:inherit;font-size:.82rem;color:var(--semantic);background:var(--box);border:1px solid var(--edge);border-radius:6px;padding:1px 10px;cursor:pointer}
summary{cursor:pointer;color:var(--semantic)}
table{border-collapse:collapse;font-size:.86rem}
th,td{padding:4px 8px;text-align:left;vertical-align:top}
.heat td.cell,.heat th.number,td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;overflow-wrap:normal}
.heat td.cell{border:1px solid var(--edge);min-width:3.4em;text-align:center}
.heat td.cell a{color:inherit}
.heat th{font-weight:500}.heat thead th{text-align:center}.heat th.unit{white-space:nowrap;overflow-wrap:normal}
.scroll th,.scroll td{white-space:nowrap;overflow-wrap:normal}
.bar{display:inline-block;width:110px;height:.7em;border-radius:3px;background:var(--edge);overflow:hidden}
.bar i{display:block;height:100%;background:var(--good)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:14px}
.chart{width:100%;height:auto;background:var(--box);border:1px solid var(--edge);border-radius:8px}
.key{display:inline-block;width:1.6em;height:3px;vertical-align:middle;margin-right:.5em}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:.4em 0 1.2em}
dt{color:var(--quiet)}dd{margin:0}
</style>
</head>
<body>
<main>
<div class="brand">mmafuzz</div>
<h1 class="{{verdict_class}}">{{verdict}}</h1>
<div class="tiles">
{{#tiles}}<div class="tile"><b class="{{class}}">{{number}}</b>{{what}}</div>
{{/tiles}}</div>
<nav>{{#sections}}<a href="#{{id}}">{{title}}</a>{{/sections}}{{#has_pairs}}<a href="#units">Units</a>{{/has_pairs}}{{#has_coverage}}<a href="#coverage">Coverage</a>{{/has_coverage}}
{{#has_charts}}<a href="#time">Over time</a>{{/has_charts}}{{#has_trends}}<a href="#trends">Over campaigns</a>{{/has_trends}}{{#has_campaigns}}<a href="#campaigns">Campaigns</a>{{/has_campaigns}}</nav>
{{#left_out}}<p class="quiet">{{left_out}}</p>
{{/left_out}}
<p class="search"><label for="search">Show facts with</label> <input id="search" type="search" size="28" placeholder="a unit, format or parameter"> <span id="shown" class="quiet" role="status"></span></p>
{{#sections}}<details class="section" id="{{id}}"{{#open}} open{{/open}}><summary><h2>{{title}}</h2></summary>
<p class="quiet">{{meaning}}</p>
{{#facts}}<article class="bucket {{severity}}" id="{{anchor}}">
<header><h3>{{name}}</h3><span class="pill">{{severity}}</span></header>
<p>{{sentence}}</p>
<p class="quiet">{{evidence}}</p>
{{#reason}}<p>Written down: {{reason}}</p>
{{/reason}}{{#note}}<p><i>{{note}}</i></p>
{{/note}}<div class="scroll" tabindex="0"><table>{{#results}}<tr><td class="mono">{{unit}}</td><td class="mono">{{result}}</td></tr>
{{/results}}</table></div>
{{#svg}}<details><summary>The bits of the witness</summary><div class="scroll" tabindex="0">{{{svg}}}</div></details>
{{/svg}}{{#no_explanation}}<p class="quiet">{{no_explanation}}</p>
{{/no_explanation}}<details><summary>Witness, units and ops</summary>
{{#witness}}<pre tabindex="0">{{witness}}</pre>
{{/witness}}{{#command}}<p><code>{{command}}</code> <button type="button" class="copy">Copy</button>{{#bits}} <a href="{{bits}}">in the page of bits</a>{{/bits}}</p>
{{/command}}<p class="quiet">Units: <span class="mono">{{units}}</span></p><p class="quiet">Ops: <span class="mono">{{ops}}</span></p>
{{#when}}<p class="quiet">{{when}}</p>
{{/when}}</details></article>
{{/facts}}</details>
{{/sections}}
{{#has_pairs}}<h2 id="units">Units against units</h2>
<p class="quiet">Share of compared cases on which two units differ. Searches look for differences, so shares are not frequencies. A share leads to the facts behind it.</p>
{{#matrices}}<details><summary class="mono">{{op}}</summary>
<div class="scroll" tabindex="0"><table class="heat"><thead><tr><td></td>{{#columns}}<th class="number" title="{{name}}">{{number}}</th>{{/columns}}<td></td></tr></thead><tbody>
{{#rows}}<tr><th class="number">{{number}}</th>{{#cells}}<td class="cell"{{#heat}} style="background:rgba(var(--heat),{{heat}})"{{/heat}} title="{{title}}">{{#first_fact}}<a href="#{{first_fact}}" data-facts="{{facts}}">{{share}}</a>{{/first_fact}}{{^first_fact}}{{share}}{{/first_fact}}</td>{{/cells}}<th class="unit mono" colspan="{{span}}">{{name}}</th></tr>
{{/rows}}</tbody></table></div><p class="behind" role="status"></p></details>
{{/matrices}}{{#not_drawn}}<p class="quiet">Too many to draw; the JSON report has them: {{not_drawn}}</p>
{{/not_drawn}}{{/has_pairs}}
{{#has_coverage}}<h2 id="coverage">Coverage</h2>
<p class="quiet">Bins that were reached of those that no proof rules out, summed over the units that the cases were looked at through.</p>
<div class="scroll" tabindex="0"><table><thead><tr><th>group</th><th class="number">reached</th><th class="number">not ruled out</th><td></td></tr></thead><tbody>
{{#groups}}<tr><td>{{name}}</td><td class="number">{{reached}}</td><td class="number">{{possible}}</td><td><span class="bar"><i style="width:{{percent}}%"></i></span></td></tr>
{{/groups}}</tbody></table></div>
<details><summary>By unit</summary><div class="scroll" tabindex="0"><table><thead><tr><th>unit</th><th>op</th><th class="number">reached</th><th class="number">not ruled out</th></tr></thead><tbody>
{{#fields}}<tr><td class="mono">{{unit}}</td><td class="mono">{{op}}</td><td class="number">{{reached}}</td><td class="number">{{possible}}</td></tr>
{{/fields}}</tbody></table></div></details>
<h3>Never reached by any unit</h3>
{{#missing}}<details><summary>{{name}}: {{count}}</summary><p class="mono">{{bins}}</p></details>
{{/missing}}{{^missing}}<p>Every bin that no proof rules out was reached by some unit.</p>
{{/missing}}{{/has_coverage}}
{{#has_charts}}<h2 id="time">Over time</h2>
<div class="charts">{{#charts}}<div>{{{svg}}}</div>{{/charts}}</div>
<ul>{{#keys}}<li><span class="key" style="background:var(--line{{colour}})"></span><code>{{name}}</code></li>
{{/keys}}</ul>
{{/has_charts}}
{{#has_trends}}<h2 id="trends">Over campaigns</h2>
<div class="charts">{{#charts}}<div>{{{svg}}}</div>{{/charts}}</div>
<ul><li><span class="key" style="background:var(--line0)"></span>facts seen for the first time; bins reached</li>
<li><span class="key" style="background:var(--line1)"></span>facts seen again</li></ul>
<details><summary>As a table</summary><div class="scroll" tabindex="0"><table><thead><tr><th class="number">campaign</th><th>started</th><th class="number">facts seen first</th><th class="number">facts seen again</th><th class="number">bins</th></tr></thead><tbody>
{{#rows}}<tr><td class="number">{{number}}</td><td>{{started}}</td><td class="number">{{first}}</td><td class="number">{{again}}</td><td class="number">{{bins}}</td></tr>
{{/rows}}</tbody></table></div></details>
{{/has_trends}}
{{#has_campaigns}}<h2 id="campaigns">Campaigns</h2>
{{#campaigns}}<dl><dt>campaign</dt><dd><code>{{uuid}}</code></dd><dt>started</dt><dd>{{started}}</dd><dt>ran</dt><dd>{{ran}}</dd><dt>cases</dt><dd>{{cases}}</dd>
<dt>inputs kept</dt><dd>{{inputs}}</dd><dt>facts first seen</dt><dd>{{new_facts}}</dd><dt>seed</dt><dd>{{seed}}</dd><dt>command</dt><dd><code>{{command}}</code></dd><dt>machine</dt><dd>{{machine}}</dd><dt>version</dt><dd>{{version}}</dd></dl>
{{/campaigns}}{{/has_campaigns}}
</main>
<script>
const search = document.getElementById('search'), shown = document.getElementById('shown');
const facts = [...document.querySelectorAll('article')];
search.addEventListener('input', () => {
  const words = search.value.toLowerCase().split(' ').filter(w => w);
  let count = 0;
  for (const fact of facts) {
    fact.hidden = !words.every(w => fact.textContent.toLowerCase().includes(w));
    count += !fact.hidden;
  }
  shown.textContent = words.length ? count + ' of ' + facts.length : '';
  if (words.length) for (const section of document.querySelectorAll('.section')) section.open = true;
});
const unfold = at => { for (; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true; };
const go = link => unfold(document.getElementById(link.getAttribute('href').slice(1)));
if (location.hash) unfold(document.getElementById(decodeURIComponent(location.hash.slice(1))));
for (const link of document.querySelectorAll('a[data-facts]'))
  link.addEventListener('click', event => {
    event.preventDefault();
    const list = link.closest('details').querySelector('.behind');
    list.textContent = 'Facts behind ' + link.textContent + ': ';
    for (const name of link.dataset.facts.split(' ')) {
      const to = document.createElement('a');
      to.href = '#' + name;
      to.textContent = document.getElementById(name).querySelector('h3').textContent;
      to.addEventListener('click', () => go(to));
      list.append(list.childElementCount ? ', ' : '', to);
    }
  });
for (const button of document.querySelectorAll('.copy'))
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = 'Copied';
  });
</script>
</body>
</html>
)page";

}  // namespace mmafuzz
