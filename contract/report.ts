/** GET /v1/report: what was booked in a period. */
import { z } from 'zod'
import { LONGEST_REPORT_TEXT } from './limits.ts'
import { CURRENCIES, MOVEMENT_CAUSES } from './money.ts'
import { utcTime } from './store-api.ts'

export const reportQuerySchema = z.strictObject({
  from: utcTime.describe('Booked at this time or later.'),
  before: utcTime.describe(`Booked before this time, at most ${LONGEST_REPORT_TEXT} after \`from\`.`),
})

export const reportSchema = z
  .object({
    days: z
      .array(
        z.object({
          day: z.iso.date().describe('In UTC.'),
          currency: z.enum(CURRENCIES),
          cause: z.enum(MOVEMENT_CAUSES).describe('As in the statement.'),
          movements: z.int().positive().describe('How many movements changed an amount.'),
          held: z.int().describe('Change of the held amount.'),
          available: z.int().describe('Change of the available amount.'),
        }),
      )
      .describe('One for each day, currency and cause with a movement, by day.'),
  })
  .meta({ id: 'Report' })

export type Report = z.infer<typeof reportSchema>
