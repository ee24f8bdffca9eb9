/** Where items may go, and how much may leave. The vault reads the file at its start. */
import { z } from 'zod'
import type { Folder } from './folder.ts'
import { checkContent, readJson } from './json.ts'
import { partnerOfLink } from './trade-link.ts'

const FILE = 'rules.json'
const MOST_DESTINATIONS = 100

const usd = z
  .string()
  .regex(/^\d{1,9}\.\d{2}$/, 'must be dollars and cents, such as 250.00')
  .transform((text) => BigInt(text.replace('.', '')))

const DESTINATION_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/
export const isDestinationName = (name: string): boolean => DESTINATION_NAME.test(name)

const destinationSchema = z
  .strictObject({ steamId: z.string(), tradeLink: z.string() })
  .transform(({ steamId, tradeLink }, context) => {
    const partner = partnerOfLink(tradeLink)
    if (partner?.steamId === steamId) return partner
    context.addIssue({ code: 'custom', message: 'steamId and tradeLink must belong to the same account' })
    return z.NEVER
  })

const rulesSchema = z
  .strictObject({
    destinations: z
      .record(z.string().regex(DESTINATION_NAME), destinationSchema)
      .refine((all) => Object.keys(all).length <= MOST_DESTINATIONS),
    limits: z.strictObject({
      usdAnHour: usd,
      usdADay: usd,
      itemsAnHour: z.int().min(0).max(100_000),
    }),
    /** An item without a price on Steam counts for this much in the limits. */
    usdWithoutPrice: usd,
  })
  .transform(({ destinations, limits, usdWithoutPrice: centsWithoutPrice }) => {
    const { usdAnHour: centsAnHour, usdADay: centsADay, itemsAnHour } = limits
    return { destinations, limits: { centsAnHour, centsADay, itemsAnHour }, centsWithoutPrice }
  })

export type Rules = z.output<typeof rulesSchema>

/** The rules as they are written in the file. */
export type WrittenRules = z.input<typeof rulesSchema>

/** The rules before the operator has written the file: nothing may leave. */
const NOTHING_MAY_LEAVE: WrittenRules = {
  destinations: {},
  limits: { usdAnHour: '0.00', usdADay: '0.00', itemsAnHour: 0 },
  usdWithoutPrice: '100.00',
}

/** Throws with a readable reason if the vault cannot read all of the file. */
export function readRules(folder: Folder): Rules {
  return check(folder, readWritten(folder))
}

/** Changes the rules. Throws, and changes nothing, if the vault could not read the result. */
export function changeRules(folder: Folder, change: (rules: WrittenRules) => WrittenRules): void {
  const before = readWritten(folder)
  check(folder, before)
  const after = change(before)
  check(folder, after)
  folder.write(FILE, `${JSON.stringify(after, null, 2)}\n`)
}

/** The cast is unchecked: every caller passes the result to `check`. */
const readWritten = (folder: Folder): WrittenRules =>
  readJson(folder, FILE, NOTHING_MAY_LEAVE) as WrittenRules

const check = (folder: Folder, content: WrittenRules): Rules =>
  checkContent(folder, { name: FILE, schema: rulesSchema, content })
