/** A receipt as a page without scripts. Pure. */
import { createHash } from 'node:crypto'
import type { Language } from '../../contract/languages.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { isEndReason } from '../deposits/deposit.ts'
import { escapeHtml } from '../http/first-paint.ts'
import { RECEIPT_TEXTS } from './texts.ts'

/** The content of a receipt, with nothing about the shopper or the customer. Amounts in minor units. */
export type Receipt = {
  id: string
  storeName: string
  status: DepositStatus
  reason: string | null
  currency: string
  amount: number | null
  heldAmount: number
  heldUntil: string | null
  reversedAmount: number
  createdAt: string
  offerId: string | null
  botName: string | null
  items: readonly { name: string; price: number; reversed: boolean }[]
  /** Until when the page can be read. */
  keptUntil: Date
}

type Showing = { language: Language; now: Date }

const STYLES = `:root{color-scheme:dark light;--bg:#0c1015;--panel:#151a21;--line:#29313d;--text:#eef2f6;--quiet:#9eabb9;--link:#7cc4ff}
@media (prefers-color-scheme:light){:root{--bg:#f3f5f8;--panel:#fff;--line:#d8dfe8;--text:#141a21;--quiet:#55616f;--link:#0b63c5}}
*{box-sizing:border-box}body{margin:0;padding:24px 16px;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:640px;margin:0 auto;padding:24px;border:1px solid var(--line);border-radius:18px;background:var(--panel)}
h1{margin:0 0 16px;font-size:24px;line-height:1.2}a{color:var(--link)}dl{margin:0}
dl>div{display:flex;flex-wrap:wrap;gap:0 16px;justify-content:space-between;padding:8px 0;border-top:1px solid var(--line)}
dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}ul{margin:0;padding:0;list-style:none}
.quiet{color:var(--quiet);font-size:13px}`

/** The page loads and runs nothing, and is neither stored nor indexed. */
export const RECEIPT_HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLES).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
}

export function receiptPage(receipt: Receipt, { language, now }: Showing): string {
  const texts = RECEIPT_TEXTS[language]
  const { amount, heldAmount, heldUntil, reversedAmount, items, reason } = receipt
  const money = (minor: number) =>
    new Intl.NumberFormat(language === 'ru' ? 'ru-RU' : 'en-US', {
      style: 'currency',
      currency: receipt.currency,
    }).format(minor / 100)
  const lines = items.map(
    ({ name, price, reversed }) =>
      `<li>${escapeHtml(name)}, ${money(price)}${reversed ? ` (${texts.back})` : ''}</li>`,
  )
  const hold = heldUntil === null ? '' : ` ${texts.until} ${moment(heldUntil)}`
  const rows: [string, string | null][] = [
    [texts.store, escapeHtml(receipt.storeName)],
    [texts.result, texts.results[receipt.status]],
    [texts.reason, reason !== null && isEndReason(reason) ? texts.reasons[reason] : null],
    [texts.opened, moment(receipt.createdAt)],
    [texts.credited, amount === null ? null : money(amount)],
    [texts.held, heldAmount === 0 ? null : `${money(heldAmount)}${hold}`],
    [texts.takenBack, reversedAmount === 0 ? null : money(reversedAmount)],
    [texts.items, lines.length === 0 ? null : `<ul>${lines.join('')}</ul>`],
    [texts.offer, receipt.offerId],
    [texts.bot, receipt.botName === null ? null : escapeHtml(receipt.botName)],
  ]
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : [`<div><dt>${name}</dt><dd>${value}</dd></div>`],
  )
  return documentOf(
    { language, title: texts.title(receipt.id) },
    `<dl>${shown.join('')}</dl><p>${texts.note} ${texts.kept(moment(receipt.keptUntil))}</p>
<p class="quiet">${texts.asOf(moment(now))}</p>`,
  )
}

export const expiredPage = (id: string, language: Language): string =>
  documentOf(
    { language, title: RECEIPT_TEXTS[language].title(id) },
    `<p>${RECEIPT_TEXTS[language].expired}</p>`,
  )

/** The page for people, in place of a refusal for programs. */
export function refusedPage(status: number, language: Language): string {
  const { noReceipt, unknown, later } = RECEIPT_TEXTS[language]
  const isTemporary = status === 429 || status >= 500
  return documentOf({ language, title: noReceipt }, `<p>${isTemporary ? later : unknown}</p>`)
}

function documentOf({ language, title }: { language: Language; title: string }, body: string): string {
  const other = language === 'en' ? 'ru' : 'en'
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLES}</style></head>
<body><main><h1>${title}</h1>${body}<p><a href="?lang=${other}" lang="${other}">${RECEIPT_TEXTS[language].other}</a></p></main></body></html>`
}

const moment = (at: string | Date): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
