import { BAD_DAYS } from '../bad-days/bad-days.ts'
import { advance, type Incoming, type Reply, redirect, type Sandbox, tradeLink } from '../exchange.ts'
import { lineOf, switchOff, switchOn } from '../routes/acts.ts'
import { PEOPLE } from '../world/people.ts'
import { type Account, DAY_S } from '../world/world.ts'
import { escapeHtml } from './html.ts'
import { counts, linkRow, moment, page, person } from './layout.ts'

/** Where people begin: the shoppers, and those whose link chooses what goes wrong. */
export function home({ world }: Sandbox): Reply {
  const shoppers = world().accounts.filter(({ kind }) => kind === 'shopper')
  const cards = shoppers.filter(({ behaviour }) => !behaviour).map(shopperCard)
  const magic = shoppers.filter(({ behaviour }) => behaviour).map(magicCard)
  return page(
    'Steam sandbox',
    `<h1>Shoppers</h1><p>Copy a trade link and paste it into the deposit page: you then pay as that shopper.</p>
${cards.join('')}<h1>Magic players</h1><p>Each of these trade links brings a behaviour or a bad day of its own.</p>
<div class="magic">${magic.join('')}</div>`,
  )
}

function shopperCard(account: Account): string {
  return `<section class="card">${person(account)}<p>${counts(account)}</p>${linkRow(tradeLink(account), account.name)}</section>`
}

function magicCard(account: Account): string {
  return `<section class="card"><h2><a href="/profiles/${account.steamId}/">${escapeHtml(account.name)}</a></h2>
<p>${escapeHtml(lineOf(account.behaviour ?? ''))}</p>${linkRow(tradeLink(account), account.name)}</section>`
}

const STEPS = [
  { label: '5 minutes later', seconds: 300 },
  { label: 'One hour later', seconds: 3600 },
  { label: 'One day later', seconds: DAY_S },
  { label: '7 days later', seconds: 7 * DAY_S },
  { label: '15 days later', seconds: 15 * DAY_S },
]

/** Time, and every behaviour with its switch. */
export function behavioursPage({ world, nowS, clockS, faults }: Sandbox): Reply {
  const on = new Set([...faults.on(), ...world().switched.map(({ name }) => name)])
  const ahead = nowS() - clockS()
  const steps = STEPS.map(
    ({ label, seconds }) => `<button name="advance" value="${seconds}">${label}</button>`,
  )
  return page(
    'Behaviours and time',
    `<h1>Time</h1><section class="card"><p>It is ${moment(nowS())} here${ahead > 0 ? `, ${Math.round(ahead / 3600)} hours ahead` : ''}.</p>
<form method="post" class="answers">${steps.join('')}</form></section>
<h1>Behaviours</h1><h2>Of shoppers</h2>${switches(PEOPLE, on)}<h2>Of Steam</h2>${switches(BAD_DAYS, on)}`,
  )
}

function switches(behaviours: Record<string, { line: string }>, on: ReadonlySet<string>): string {
  const rows = Object.entries(behaviours).map(([name, { line }]) => {
    const isOn = on.has(name)
    const button = `<button name="${isOn ? 'off' : 'on'}" value="${name}" class="${isOn ? 'accept' : ''}">${isOn ? 'Switch off' : 'Switch on'}</button>`
    return `<tr><td><code>${name}</code> <button type="button" data-copy="${name}" aria-label="Copy ${name}">Copy</button></td><td>${escapeHtml(line)}</td><td>${button}</td></tr>`
  })
  return `<form method="post"><table>${rows.join('')}</table></form>`
}

export function behavioursForm({ form }: Incoming, sandbox: Sandbox): Reply | undefined {
  const seconds = Number(form.get('advance') ?? 0)
  if (seconds > 0) advance(sandbox, Math.floor(seconds))
  const [on, off] = [form.get('on'), form.get('off')]
  if (on) switchOn(sandbox, on, undefined)
  if (off) switchOff(sandbox, off)
  return redirect('/behaviours/', 303)
}
