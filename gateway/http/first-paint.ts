/**
 * The page as it leaves: the build's document, and for a deposit that may be shown its shell and its payment, so the
 * first answer says whose payment this is. Pure.
 */
import { createHash } from 'node:crypto'
import { isFinal } from '../../contract/statuses.ts'
import type { Payment } from '../../contract/widget-api.ts'

export type Document = {
  /** As it stands for every address without a deposit. */
  plain: string
  /** With the shell of this deposit. */
  withPayment(payment: Payment): string
  /** The styles in it, as the policy names them. */
  styleHashes: string[]
}

const BEGIN = '<!--shell-->'
const END = '<!--/shells-->'
const TITLE = '<title>Tradetill</title>'

/** `html` is the widget's build; one without shells serves every address alike. */
export function readDocument(html: string, mode: 'sandbox' | 'live'): Document {
  const [before, rest] = halves(html, BEGIN)
  const [shells, after] = halves(rest, END)
  const [neutral, others] = halves(shells, '<!--shell en-->')
  const [en, ru] = halves(others, '<!--shell ru-->')
  const shellIn = { en, ru, neutral }
  const plain = before + after
  return {
    plain,
    withPayment: (payment) => {
      if (shells === '') return plain
      const { language } = payment
      const shell = fill(shellIn[language ?? 'neutral'], valuesOf(payment, mode))
      const head = before
        .replace('lang="en"', `lang="${language ?? 'en'}"`)
        .replace(TITLE, () => `<title>${escapeHtml(`${payment.storeName} #${payment.id}`)}</title>`)
      return `${head}<div id="shell">${shell}</div>${inertJson('payment', payment)}${after}`
    },
    styleHashes: before
      .split('<style>')
      .slice(1)
      .map((styles) => `'sha256-${sha256(halves(styles, '</style>')[0])}'`),
  }
}

/** Up to the mark and after it; all and nothing where there is no mark. */
function halves(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)]
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64')

type Values = Record<string, string | undefined>

function valuesOf(payment: Payment, mode: 'sandbox' | 'live'): Values {
  const when = (is: boolean): string | undefined => (is ? '' : undefined)
  const isOpen = !isFinal(payment.status)
  const hasUser = payment.user !== null
  return {
    storeName: payment.storeName,
    id: payment.id,
    customer: payment.customerLabel ?? undefined,
    sandbox: when(mode === 'sandbox'),
    works: when(isOpen && payment.technicalWorks),
    asks: when(!hasUser),
    shows: when(hasUser),
  }
}

const MARK = /(\{\{[#/]?\w+\}\})/

/** Reads the marks of the template alone: a value that looks like one is text. */
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

const ENTITIES: Record<string, string> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' }

/** For the text of an element and for an attribute in double quotes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&"<>]/g, (character) => ENTITIES[character] ?? '')
}

/** Characters that could end the element, or begin a comment in it; the others end lines in old scripts. */
const SPECIAL = /[<>&\u2028\u2029]/g

/** A value as data that no browser runs, whatever strings it has. */
function inertJson(id: string, value: unknown): string {
  const json = JSON.stringify(value).replace(
    SPECIAL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return `<script type="application/json" id="${id}">${json}</script>`
}
