/**
 * The page as sent: the build's document, plus the payment of a deposit and its shell. The shell is the first screen as
 * HTML, so the first answer already shows the payment. Pure.
 */
import type { Payment } from '../../contract/widget-api.ts'
import { sha256 } from '../kit/sha256.ts'
import { escapeHtml } from './html.ts'

export type Document = {
  /** The page without a payment. */
  plain: string
  /** The page with the shell of this deposit. `sentAt`: now; the page's code compares it with the device's clock. */
  withPayment(payment: Payment, sentAt: Date): string
  /** The hashes of its inline styles, for the Content-Security-Policy. */
  styleHashes: string[]
}

const BEGIN = '<!--shell-->'
const END = '<!--/shells-->'
const TITLE = '<title>Tradetill</title>'

const STEAM = 'https://steamcommunity.com'

/**
 * `html` is the widget's build. Without shells in it, every path gets the same page. `steam`: where the links to
 * Steam lead.
 */
export function readDocument(html: string, mode: 'sandbox' | 'live', steam = STEAM): Document {
  const [before, rest] = halves(html, BEGIN)
  const [shells, after] = halves(rest, END)
  const [neutral, others] = halves(shells, '<!--shell en-->')
  const [en, ru] = halves(others, '<!--shell ru-->')
  const shellIn = { en, ru, neutral }
  const plain = before + after
  return {
    plain,
    withPayment: (payment, sentAt) => {
      if (shells === '') return plain
      const { language } = payment
      const shell = fill(shellIn[language ?? 'neutral'], { ...valuesOf(payment, mode), steam })
      const head = before
        .replace('lang="en"', `lang="${language ?? 'en'}"`)
        .replace(TITLE, () => `<title>${escapeHtml(`${payment.storeName} #${payment.id}`)}</title>`)
      return `${head}<div id="shell">${shell}</div>${inertJson(payment, sentAt)}${after}`
    },
    styleHashes: before
      .split('<style>')
      .slice(1)
      .map((styles) => `'sha256-${sha256(halves(styles, '</style>')[0]).toString('base64')}'`),
  }
}

/** Splits at the mark; without a mark, the second part is empty. */
function halves(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)]
}

type Values = Record<string, string | undefined>

function valuesOf(payment: Payment, mode: 'sandbox' | 'live'): Values {
  const when = (isSet: boolean): string | undefined => (isSet ? '' : undefined)
  const hasUser = payment.user !== null
  return {
    storeName: payment.storeName,
    id: payment.id,
    customer: payment.customerLabel ?? undefined,
    sandbox: when(mode === 'sandbox'),
    // Not while an offer is open: its time goes on during maintenance, and its dialog has a notice of its own.
    works: when(payment.status === 'created' && payment.technicalWorks),
    worksText: payment.technicalWorksText?.[payment.language ?? 'en'],
    unknownShopper: when(!hasUser),
    knownShopper: when(hasUser),
  }
}

const MARK = /(\{\{[#/]?\w+\}\})/

/** Reads only the template's own marks: a value that looks like one stays text. */
function fill(template: string, values: Values): string {
  const absent: string[] = []
  const parts = template.split(MARK).map((part) => {
    if (!MARK.test(part)) return absent.length === 0 ? part : ''
    const name = part.replace(/[{}#/]/g, '')
    if (part.startsWith('{{#') && values[name] === undefined) absent.push(name)
    else if (part.startsWith('{{/') && absent.at(-1) === name) absent.pop()
    else if (!part.startsWith('{{#') && !part.startsWith('{{/') && absent.length === 0)
      return escapeHtml(values[name] ?? '')
    return ''
  })
  return parts.join('')
}

/** Characters that could end the element or start a comment in it, and two that end lines in old scripts. */
const SPECIAL = /[<>&\u2028\u2029]/g

/** Serialises the payment as data that no browser runs, whatever strings it contains. */
function inertJson(payment: Payment, sentAt: Date): string {
  const json = JSON.stringify(payment).replace(
    SPECIAL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `<script type="application/json" id="payment" data-sent-at="${sentAt.getTime()}">${json}</script>`
}
