import { BAD_DAY_GROUPS } from '../bad-days/bad-days.ts'
import { type Incoming, type Reply, redirect } from '../http.ts'
import { switchOff, switchOn } from '../routes/changes.ts'
import { advance, type Sandbox } from '../sandbox.ts'
import { PEOPLE } from '../world/people.ts'
import { DAY_S } from '../world/world.ts'
import { htmlOfLine, moment, page } from './layout.ts'

const STEPS = [
  { label: '5 minutes later', seconds: 300 },
  { label: 'One hour later', seconds: 3600 },
  { label: 'One day later', seconds: DAY_S },
  { label: '7 days later', seconds: 7 * DAY_S },
  { label: '8 days later', seconds: 8 * DAY_S },
  { label: '15 days later', seconds: 15 * DAY_S },
]

/** How far the sandbox's clock is ahead of the machine's, as the end of a sentence. */
function aheadText(hours: number): string {
  if (hours <= 0) return ''
  const [days, rest] = [Math.floor(hours / 24), hours % 24]
  const parts = [
    days > 0 ? `${days} ${days === 1 ? 'day' : 'days'}` : '',
    rest > 0 ? `${rest} ${rest === 1 ? 'hour' : 'hours'}` : '',
  ].filter((part) => part !== '')
  return `, ${parts.join(' ')} ahead`
}

export function behavioursPage({ world, nowS, clockS, faults }: Sandbox): Reply {
  const activeNames = new Set([...faults.activeNames(), ...world().switched.map(({ name }) => name)])
  const aheadHours = Math.round((nowS() - clockS()) / 3600)
  const steps = STEPS.map(
    ({ label, seconds }) => `<button name="advance" value="${seconds}">${label}</button>`,
  )
  const groups = [{ title: 'Shoppers', days: PEOPLE }, ...BAD_DAY_GROUPS].map(
    ({ title, days }) => `<h3>${title}</h3>${switches(days, activeNames)}`,
  )
  return page(
    'Behaviours and time',
    `<h1>Behaviours and time</h1><h2>Time</h2><section class="card">
<p>It is ${moment(nowS())} here${aheadText(aheadHours)}.</p>
<form method="post" class="answers">${steps.join('')}</form>
<p>A till in sandbox mode follows within seconds. Time cannot be turned back.</p></section>
<h2>Behaviours</h2><p>A behaviour that you switch on here applies to every shopper and request until you switch it off,
unless its description names an end or a bot. Items that it adds stay. For one shopper only, take the trade link of a <a href="/">test shopper</a>.</p>${groups.join('')}`,
  )
}

function switches(behaviours: Record<string, { line: string }>, activeNames: ReadonlySet<string>): string {
  const rows = Object.entries(behaviours).map(([name, { line }]) => {
    const isOn = activeNames.has(name)
    const [verb, label] = isOn ? ['off', 'Switch off'] : ['on', 'Switch on']
    return `<li><div><code>${name}</code><p>${htmlOfLine(line)}</p></div>
<button type="button" data-copy="${name}" aria-label="Copy the name ${name}">Copy</button>
<button name="${verb}" value="${name}" class="${isOn ? 'accept' : ''}" aria-label="${label}: ${name}">${label}</button></li>`
  })
  return `<form method="post"><ul class="switches">${rows.join('')}</ul></form>`
}

export function behavioursForm({ form }: Incoming, sandbox: Sandbox): Reply | undefined {
  const seconds = Number(form.get('advance') ?? 0)
  if (seconds > 0) advance(sandbox, Math.floor(seconds))
  const [on, off] = [form.get('on'), form.get('off')]
  if (on) switchOn(sandbox, on, undefined)
  if (off) switchOff(sandbox, off, undefined)
  return redirect('/behaviours/', 303)
}
