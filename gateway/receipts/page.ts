/** A receipt as a page that is complete without its script. Pure. */
import type { Phase } from '../../contract/games.ts'
import { nameWithPhase, PHASE_WORDS } from '../../contract/item-name.ts'
import type { Language } from '../../contract/languages.ts'
import { type Currency, majorOf } from '../../contract/money.ts'
import type { DepositStatus } from '../../contract/statuses.ts'
import { isEndReason } from '../deposits/deposit.ts'
import { escapeHtml } from '../http/html.ts'
import { sha256 } from '../kit/sha256.ts'
import { type Credit, historyOf, type LoggedEvent, type Step, splitOf } from './money.ts'
import { nameWithWear } from './name-with-wear.ts'
import { RECEIPT_TEXTS, type Texts } from './texts.ts'

/** The content of a receipt, without any secret. Amounts are in minor units. */
export type Receipt = Credit & {
  id: string
  storeName: string
  /** Where the store's name links to; null if it is not a link. */
  storeUrl: string | null
  status: DepositStatus
  reason: string | null
  currency: Currency
  heldUntil: string | null
  createdAt: string
  offerId: string | null
  botName: string | null
  /**
   * The account that gave the items, or was asked for them. Null if there is no trade, or if the account was erased.
   */
  account: { name: string | null; steamId: string } | null
  items: readonly ReceiptItem[]
  history: readonly LoggedEvent[]
  /** Until when the page can be read. */
  keptUntil: Date
}

/** `name`: in the language in which the items were picked; `marketName`: English. */
type ReceiptItem = {
  name: string
  marketName: string | null
  phase: Phase | null
  price: number
  reversed: boolean
}

type Showing = { language: Language; now: Date }

const STYLES = `:root{color-scheme:dark light;--bg:#0c1015;--panel:#151a21;--line:#29313d;--text:#eef2f6;--quiet:#9eabb9;--link:#7cc4ff}
@media (prefers-color-scheme:light){:root{--bg:#f3f5f8;--panel:#fff;--line:#d8dfe8;--text:#141a21;--quiet:#55616f;--link:#0b63c5}}
*{box-sizing:border-box}body{margin:0;padding:24px 16px;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:640px;margin:0 auto;padding:24px;border:1px solid var(--line);border-radius:18px;background:var(--panel)}
h1{margin:0 0 16px;font-size:24px;line-height:1.2}a{color:var(--link)}dl{margin:0}
dl>div{display:flex;flex-wrap:wrap;gap:0 16px;justify-content:space-between;padding:8px 0;border-top:1px solid var(--line)}
dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}ul{margin:0;padding:0;list-style:none}
li+li{margin-top:4px}.quiet{color:var(--quiet);font-size:13px}li>.quiet{display:block}dd time{white-space:nowrap}`

export const TIMES_PATH = '/receipt/times.js'

/** The page runs only the till's own script, and is neither stored nor indexed. */
export const RECEIPT_HEADERS = {
  'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'sha256-${sha256(STYLES).toString('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
}

const LOCALES: Record<Language, string> = { en: 'en-US', ru: 'ru-RU' }

export function receiptPage(receipt: Receipt, { language, now }: Showing): string {
  const texts = RECEIPT_TEXTS[language]
  const { items, reason, account, currency } = receipt
  const { format } = new Intl.NumberFormat(LOCALES[language], { style: 'currency', currency })
  const words: Words = { texts, language, money: (minor) => format(majorOf(minor, currency)) }
  const rows: Row[] = [
    [texts.store, storeLine(receipt)],
    [texts.result, resultOf(receipt, texts)],
    [texts.reason, reason !== null && isEndReason(reason) ? texts.reasons[reason] : null],
    ...moneyRows(receipt, words),
    [texts.items, listOf(items.map((item) => itemLine(item, words)))],
    [receipt.status === 'succeeded' ? texts.from : texts.to, account && accountLine(account)],
    [texts.offer, receipt.offerId],
    [texts.bot, receipt.botName === null ? null : escapeHtml(receipt.botName)],
    [
      texts.history,
      listOf(historyOf(receipt.createdAt, receipt.history).map((step) => stepLine(step, words))),
    ],
  ]
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : [`<div><dt>${name}</dt><dd>${value}</dd></div>`],
  )
  const why = receipt.heldAmount > 0 ? `<p>${texts.whyHeld}</p>` : ''
  const kept = texts.kept(moment(receipt.keptUntil, language))
  return documentOf(
    { language, title: texts.title(receipt.id) },
    `<dl>${shown.join('')}</dl>${why}<p>${texts.note} ${kept}</p>
<p class="quiet">${texts.asOf(moment(now, language))}</p>`,
  )
}

type Row = [name: string, value: string | null]
type Words = { texts: Texts; language: Language; money: (minor: number) => string }

const listOf = (lines: readonly string[]): string | null =>
  lines.length === 0 ? null : `<ul>${lines.map((line) => `<li>${line}</li>`).join('')}</ul>`

/** The link sends no Referer, because the receipt's address alone opens the receipt. */
function storeLine({ storeName, storeUrl }: Receipt): string {
  const name = escapeHtml(storeName)
  return storeUrl === null ? name : `<a href="${escapeHtml(storeUrl)}" rel="noreferrer">${name}</a>`
}

function resultOf(receipt: Receipt, texts: Texts): string {
  const split = receipt.status === 'succeeded' ? splitOf(receipt) : null
  return split === null ? texts.results[receipt.status] : texts.creditStates[split.state]
}

/** One row if the shopper can spend the whole amount. Otherwise the sum and its parts: credited, held, taken back. */
function moneyRows(receipt: Receipt, { texts, language, money }: Words): Row[] {
  const { amount, heldAmount, heldUntil, reversedAmount } = receipt
  const split = splitOf(receipt)
  if (amount === null || split === null) return []
  if (split.state === 'credited') return [[texts.credited, money(amount)]]
  const held = heldUntil === null ? texts.held : texts.heldUntil(moment(heldUntil, language))
  return [
    [texts.worth, money(amount)],
    [texts.creditedNow, money(split.nowAmount)],
    [held, heldAmount === 0 ? null : money(heldAmount)],
    [texts.takenBack, reversedAmount === 0 ? null : money(reversedAmount)],
  ]
}

/** The name as the shopper's page shows it, and beneath it the name on Steam's market if that differs. */
function itemLine({ name, marketName, phase, price, reversed }: ReceiptItem, words: Words): string {
  const { texts, language, money } = words
  const withWear = nameWithWear(name, marketName, language)
  const shown = nameWithPhase(withWear, phase && PHASE_WORDS[language][phase])
  const back = reversed ? ` (${texts.back})` : ''
  const market =
    marketName === null || marketName === withWear
      ? ''
      : `<span class="quiet">${escapeHtml(marketName)}</span>`
  return `${escapeHtml(shown)}, ${money(price)}${back}${market}`
}

const accountLine = ({ name, steamId }: NonNullable<Receipt['account']>): string =>
  name === null ? steamId : `${escapeHtml(name)}<br><span class="quiet">Steam ID ${steamId}</span>`

function stepLine({ kind, at, amount, held }: Step, { texts, language, money }: Words): string {
  const sum = amount === null || amount === 0 ? '' : `: ${money(amount)}`
  const heldPart = held === 0 ? '' : `, ${texts.heldPart(money(held))}`
  return `${texts.steps[kind]}${sum}${heldPart}<span class="quiet">${moment(at, language)}</span>`
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
  const otherLanguage = language === 'en' ? 'ru' : 'en'
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLES}</style><script src="${TIMES_PATH}" defer></script></head>
<body><main><h1>${title}</h1>${body}<p><a href="?lang=${otherLanguage}" lang="${otherLanguage}">${RECEIPT_TEXTS[language].other}</a></p></main></body></html>`
}

/** A time in UTC. The page's script shows it in the shopper's own zone, with UTC beside it. */
function moment(at: string | Date, language: Language): string {
  const time = new Date(at)
  const text = new Intl.DateTimeFormat(LOCALES[language], {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(time)
  return `<time datetime="${time.toISOString()}">${text}</time>`
}
