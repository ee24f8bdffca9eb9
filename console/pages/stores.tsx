import { majorOf } from '../../contract/money.ts'
import { DEFAULT_SCOPES, SCOPES } from '../../contract/scopes.ts'
import type { StorePage as Answer } from '../../gateway/operations/stores.ts'
import type { Json } from '../api/json.ts'
import { ActButton, type Field, listOf } from '../ui/act.tsx'
import { allRows, useRows } from '../ui/answer.ts'
import { formatMinor, toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Heading, Pill, Time } from '../ui/parts.tsx'
import { type Column, List } from '../ui/table.tsx'

type Page = Json<Answer>
type Row = Page['stores'][number]

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Store',
    show: ({ storeId, name }) => <PageLink to={`/stores/${storeId}`}>{name}</PageLink>,
    csvValue: ({ name }) => name,
  },
  { name: 'Number', show: ({ storeId }) => storeId, csvValue: ({ storeId }) => storeId },
  { name: 'Credit', show: ({ creditMode }) => toWords(creditMode), csvValue: ({ creditMode }) => creditMode },
  { name: 'Liable', show: ({ liability }) => liability, csvValue: ({ liability }) => liability },
  {
    name: 'At risk',
    isNumber: true,
    show: ({ atRisk, riskLimit }) => (
      <>
        {formatMinor(atRisk.amountMinor, 'USD')}{' '}
        <span className="quiet">of {formatMinor(riskLimit.amountMinor, 'USD')}</span>
      </>
    ),
    csvValue: ({ atRisk }) => majorOf(atRisk.amountMinor, 'USD'),
  },
  {
    name: 'Available',
    isNumber: true,
    show: ({ balances }) =>
      balances.length === 0
        ? '—'
        : balances.map(({ currency, availableMinor }) => formatMinor(availableMinor, currency)).join(', '),
    csvValue: ({ balances }) =>
      balances
        .map(({ currency, availableMinor }) => `${majorOf(availableMinor, currency)} ${currency}`)
        .join(' '),
  },
  {
    name: 'State',
    show: ({ disabledAt }) =>
      disabledAt === null ? <Pill tone="good">enabled</Pill> : <Pill tone="bad">disabled</Pill>,
    csvValue: ({ disabledAt }) => (disabledAt === null ? 'enabled' : 'disabled'),
  },
  { name: 'Since', show: ({ createdAt }) => <Time at={createdAt} />, csvValue: ({ createdAt }) => createdAt },
]

const FIELDS: readonly Field[] = [
  { name: 'name', label: 'Name, as shoppers see it' },
  { name: 'origins', label: 'Origins, separated by commas', hint: 'Such as https://store.example.' },
  {
    name: 'webhookUrl',
    label: 'Address of its webhooks',
    isOptional: true,
    hint: 'Leave empty for none.',
  },
  { name: 'creditMode', label: 'Credit', options: ['on_accept', 'on_release'] },
  { name: 'liability', label: 'Liable for reversals', options: ['operator', 'store'] },
  {
    name: 'riskLimit',
    label: 'Risk limit in whole dollars',
    value: '0',
    hint: '0 holds all credit that can be reversed.',
  },
  {
    name: 'scopes',
    label: 'Rights of its key, separated by commas',
    value: DEFAULT_SCOPES.join(', '),
    hint: SCOPES.join(', '),
  },
  {
    name: 'accent',
    label: 'Colour',
    isOptional: true,
    hint: 'Such as #3366ff. Leave empty for the page’s own colour.',
  },
]

const rowsOf = ({ stores }: Page): readonly Row[] => stores

export function StoresPage() {
  const rows = useRows<Page, Row>('stores', {}, rowsOf)
  return (
    <>
      <Heading title="Stores">
        <ActButton
          act="store add"
          label="Register a store"
          does="Creates the store, its first API key and, with a webhook, the secret that signs its webhooks."
          needs="operator"
          fields={FIELDS}
          input={({ origins = '', scopes = '', webhookUrl = '', accent = '', riskLimit, ...typed }) => ({
            ...typed,
            origins: listOf(origins),
            scopes: listOf(scopes),
            riskLimitUsd: riskLimit,
            ...(webhookUrl.trim() !== '' && { webhookUrl: webhookUrl.trim() }),
            ...(accent.trim() !== '' && { accent: accent.trim() }),
          })}
          onDone={rows.refresh}
          secrets={{ apiKey: 'API key', webhookSecret: 'Webhook secret' }}
        />
      </Heading>
      <List
        caption="Stores, in the order of their numbers"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ storeId }) => storeId}
        empty="No store is registered yet."
        all={() => allRows<Page, Row>('stores', {}, rowsOf)}
        fileName="stores"
      />
    </>
  )
}
