import { buildRouteMap } from '@stricli/core'
import type { SalesReport } from '../../operations/sales.ts'
import { moment } from '../arguments.ts'
import { command, FIND, type FindFlags } from '../command.ts'
import { saleCsvLines, saleLines } from '../sale-lines.ts'
import type { Session } from '../session.ts'
import { money } from './store-books.ts'

type Flags = FindFlags & { from: Date; to: Date; csv?: boolean }

const sales = command({
  does: 'show the items sold in a period, their proceeds and cost, and the current books of the markets',
  example: 'report sales --from 2026-11-01 --to 2026-12-01',
  parameters: {
    flags: {
      from: { kind: 'parsed', parse: moment, brief: 'only sales since this time', placeholder: 'TIME' },
      to: { kind: 'parsed', parse: moment, brief: 'only sales before this time', placeholder: 'TIME' },
      csv: {
        kind: 'boolean',
        brief: 'CSV: the names of the columns, then a line for each sale',
        optional: true,
        withNegated: false,
      },
      ...FIND,
    },
  },
  load: async () => {
    const { reportSales } = await import('../../operations/sales.ts')
    return async (session: Session, { from, to, csv = false }: Flags) => {
      const answer = await reportSales(await session.findDeps(), { from, to })
      if (answer.kind !== 'done' || !csv) return answer
      return { ...answer, data: { ...answer.data, csv: saleCsvLines(answer.data) } }
    }
  },
  lines: ({ csv, ...found }: SalesReport & { csv?: string[] }) => csv ?? saleLines(found),
})

export const report = buildRouteMap({
  routes: { money, sales },
  docs: { brief: 'the money of all stores, and what the till earned by selling items' },
})
