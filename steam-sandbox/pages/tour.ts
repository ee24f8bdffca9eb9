import { type Incoming, type Reply, redirect } from '../http.ts'
import type { Sandbox } from '../sandbox.ts'
import type { Scene } from '../tour.ts'
import { escapeHtml } from './html.ts'
import { htmlOfLine, page } from './layout.ts'

export function tourPage({ tour }: Sandbox): Reply {
  const cards = tour.scenes().map((scene, index) => sceneCard(scene, index + 1, tour.isPlaying()))
  const intro =
    cards.length === 0
      ? 'There is no tour here. <code>npm start</code> provides one.'
      : 'Ten minutes, from top to bottom or in any order. Each button plays a scene with real calls between a shopper, this Steam, the till and the store, and then says what to look at. Some scenes let days pass.'
  return page('Tour', `<h1>Tour</h1><p>${intro}</p><ol class="tour">${cards.join('')}</ol>`)
}

function sceneCard(
  { name, title, line, state, summary, links }: Scene,
  number: number,
  isBusy: boolean,
): string {
  const label = state === 'ready' || state === 'playing' ? 'Play' : 'Play again'
  const rows = links.map(
    (link) =>
      `<li><a href="${escapeHtml(link.url)}" target="_blank" rel="noopener">${escapeHtml(link.label)}</a></li>`,
  )
  const outcome =
    state === 'playing'
      ? '<p role="status" data-playing>Playing …</p>'
      : summary && `<p role="status" class="${state}">${htmlOfLine(summary)}</p>`
  return `<li class="card" id="${escapeHtml(name)}"><h2>${number}. ${escapeHtml(title)}</h2><p>${htmlOfLine(line)}</p>
<form method="post"><button class="accept" name="play" value="${escapeHtml(name)}" aria-label="${label}: ${escapeHtml(title)}"${isBusy ? ' disabled' : ''}>${label}</button></form>
${outcome}${rows.length > 0 ? `<p>Look at:</p><ul>${rows.join('')}</ul>` : ''}</li>`
}

export function tourForm({ form }: Incoming, { tour }: Sandbox): Reply {
  const name = form.get('play') ?? ''
  tour.press(name)
  return redirect(`/tour/#${name}`, 303)
}
