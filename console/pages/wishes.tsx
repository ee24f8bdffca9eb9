import type { WishPage } from '../../gateway/operations/wishes.ts'
import type { Json } from '../api/json.ts'
import { ActButton, listOf } from '../ui/act.tsx'
import { allRows, useAnswer, useRows } from '../ui/answer.ts'
import { Filters } from '../ui/filters.tsx'
import { toWords } from '../ui/format.ts'
import { PageLink } from '../ui/link.tsx'
import { Panel, Status, Time } from '../ui/parts.tsx'
import { type Column, List } from '../ui/table.tsx'

type Page = Json<WishPage>
type Row = Page['wishes'][number]

const wishesOf = ({ wishes }: Page): readonly Row[] => wishes

export function Wishes({ query }: { query: URLSearchParams }) {
  const input = query.get('open') === '1' ? { open: true } : {}
  const rows = useRows<Page, Row>('wishes', input, wishesOf)
  // Every answer contains the rule, so one row is enough.
  const rule = useAnswer<Page>('wishes', { limit: 1 })
  const refresh = () => {
    rows.refresh()
    rule.refresh()
  }
  return (
    <>
      <Panel title="Ask the vault">
        <p className="quiet">
          {rule.shown.kind === 'ready' && ruleText(rule.shown.data.rule)} The vault decides by its own list of
          destinations, its limits and what Steam says.
        </p>
        <WishActs refresh={refresh} />
      </Panel>
      <Filters query={query} fields={[{ name: 'open', label: 'Only open requests', type: 'checkbox' }]} />
      <List
        caption="Requests to the vault, newest first"
        columns={columnsOf(refresh)}
        rows={rows}
        keyOf={({ wishId }) => wishId}
        empty={'open' in input ? 'No request is open.' : 'Nothing has been requested from the vault yet.'}
        all={() => allRows<Page, Row>('wishes', input, wishesOf)}
        fileName="wishes"
      />
    </>
  )
}

const columnsOf = (refresh: () => void): readonly Column<Row>[] => [
  { name: 'Request', show: ({ wishId }) => wishId, csvValue: ({ wishId }) => wishId },
  {
    name: 'To',
    show: ({ destination, depositId }) =>
      destination ?? (
        <PageLink to={`/deposits/${depositId}`}>back to the shopper of deposit {depositId}</PageLink>
      ),
    csvValue: ({ destination, depositId }) => destination ?? `back to the shopper of deposit ${depositId}`,
  },
  { name: 'Bot', show: ({ bot }) => bot, csvValue: ({ bot }) => bot },
  {
    name: 'Items',
    isNumber: true,
    show: ({ items }) => items.length,
    csvValue: ({ items }) => items.length,
  },
  { name: 'Asked by', show: ({ askedBy }) => askedBy, csvValue: ({ askedBy }) => askedBy },
  {
    name: 'The vault',
    show: ({ state, because }) => (
      <>
        <Status name={state ?? 'not seen yet'} />{' '}
        {because !== null && <span className="quiet">{toWords(because)}</span>}
      </>
    ),
    csvValue: ({ state }) => state,
  },
  { name: 'Offer', show: ({ offerId }) => offerId ?? '—', csvValue: ({ offerId }) => offerId },
  { name: 'When', show: ({ createdAt }) => <Time at={createdAt} />, csvValue: ({ createdAt }) => createdAt },
  {
    name: 'Acts',
    show: ({ wishId, isOpen, state }) =>
      isOpen &&
      (state === null || state === 'waiting') && (
        <ActButton
          act="items unwish"
          label="Withdraw"
          does="Withdraws the request to the vault for these items."
          needs="operator"
          input={() => ({ wishId })}
          onDone={refresh}
        />
      ),
  },
]

const ruleText = (rule: Page['rule']): string =>
  rule === null
    ? 'Bots keep all their items: there is no rule.'
    : `The vault is asked to send the oldest items to ${rule.destination} while a bot has more than ${rule.keep} free ${rule.keep === 1 ? 'item' : 'items'}.`

const DESTINATION_FIELD = {
  name: 'to',
  label: 'Destination',
  hint: 'The name that the vault uses, such as storage.',
} as const

function WishActs({ refresh }: { refresh: () => void }) {
  const common = { needs: 'operator', onDone: refresh } as const
  return (
    <div className="acts">
      <ActButton
        {...common}
        act="items send"
        label="Send items"
        does="Asks the vault to send free items, which Steam does not protect and nothing else needs, to a destination on its list."
        fields={[
          DESTINATION_FIELD,
          { name: 'bot', label: 'Only from this bot', isOptional: true, hint: 'Its number or Steam id.' },
          {
            name: 'assets',
            label: 'Asset ids, separated by commas',
            isOptional: true,
            hint: 'The ids in the bot’s inventory. Leave empty for all free items.',
          },
        ]}
        input={({ to = '', bot = '', assets = '' }) => ({
          to: to.trim(),
          ...(bot.trim() !== '' && { bot: bot.trim() }),
          ...(assets.trim() !== '' && { assets: listOf(assets) }),
        })}
      />
      <ActButton
        {...common}
        act="items return"
        label="Give items back"
        does="Asks the vault to return the free items of a deposit’s last delivered trade to their sender. The request needs approval at the vault. The credit stays as it is."
        needsReason
        fields={[{ name: 'depositId', label: 'Number of the deposit' }]}
        input={({ depositId = '' }) => ({ depositId: depositId.trim() })}
      />
      <ActButton
        {...common}
        act="items rule"
        label="Change the rule"
        does="Every minute, the vault is asked to send away each bot’s free items beyond the number below, oldest first."
        fields={[
          {
            name: 'keep',
            label: 'Free items that a bot keeps',
            isOptional: true,
            hint: 'Leave empty for no rule.',
          },
          { ...DESTINATION_FIELD, isOptional: true },
        ]}
        input={({ keep = '', to = '' }) =>
          keep.trim() === '' ? {} : { keep: Number(keep.trim()), to: to.trim() }
        }
      />
    </div>
  )
}
