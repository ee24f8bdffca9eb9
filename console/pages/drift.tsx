import type { DriftList } from '../../gateway/operations/drift.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { PageLink } from '../ui/link.tsx'
import { Loaded, Panel, Pill, Time } from '../ui/parts.tsx'
import { type Column, Export, Table } from '../ui/table.tsx'

type Data = Json<DriftList>
type BotCheck = Data['bots'][number]
type Row = BotCheck['drift'][number] & { bot: string; botId: string }

const KINDS: Record<Row['kind'], string> = {
  missing: 'in the books, not at the bot',
  foreign: 'at the bot, not in the books',
  unnamed: 'its new asset id is unknown',
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Bot',
    show: ({ botId, bot }) => <PageLink to={`/bots/${botId}`}>{bot}</PageLink>,
    csvValue: ({ bot }) => bot,
  },
  {
    name: 'Item',
    show: ({ marketHashName }) => marketHashName,
    csvValue: ({ marketHashName }) => marketHashName,
  },
  { name: 'What', show: ({ kind }) => KINDS[kind], csvValue: ({ kind }) => kind },
  {
    name: 'Confirmed',
    show: ({ isSure }) => <Pill tone={isSure ? 'bad' : 'warn'}>{isSure ? 'yes' : 'not yet'}</Pill>,
    csvValue: ({ isSure }) => (isSure ? 'yes' : 'no'),
  },
  { name: 'Asset', show: ({ assetId }) => assetId ?? '—', csvValue: ({ assetId }) => assetId },
  {
    name: 'First seen',
    show: ({ firstSeenAt }) => <Time at={firstSeenAt} />,
    csvValue: (row) => row.firstSeenAt,
  },
]

const keyOf = ({ botId, kind, item, appId, assetId }: Row): string =>
  [botId, kind, item, appId, assetId].join(' ')

export function Drift() {
  const { shown, refresh } = useAnswer<Data>('drift', {})
  return (
    <Loaded shown={shown} refresh={refresh}>
      {({ bots }) => {
        const rows = bots.flatMap(({ botId, bot, drift }) => drift.map((each) => ({ ...each, botId, bot })))
        return (
          <>
            <Panel title="Differences from the books">
              <Table
                caption="Items that differ from the books"
                columns={COLUMNS}
                rows={rows}
                keyOf={keyOf}
                empty="No differences found."
              />
              {rows.length > 0 && (
                <div className="list-foot">
                  <Export columns={COLUMNS} all={async () => rows} fileName="drift" />
                </div>
              )}
            </Panel>
            <Checks bots={bots} refresh={refresh} />
          </>
        )
      }}
    </Loaded>
  )
}

function Checks({ bots, refresh }: { bots: readonly BotCheck[]; refresh: () => void }) {
  return (
    <Panel title="Checks">
      <Table
        caption="When each bot was last checked"
        rows={bots}
        keyOf={({ botId }) => botId}
        empty="No bot yet."
        columns={[
          { name: 'Bot', show: ({ botId, bot }) => <PageLink to={`/bots/${botId}`}>{bot}</PageLink> },
          { name: 'Last check', show: ({ lookedAt }) => <Time at={lookedAt} /> },
          { name: 'Last complete check', show: ({ wholeAt }) => <Time at={wholeAt} /> },
          { name: 'Further items not in the books', isNumber: true, show: ({ leftOut }) => leftOut },
          {
            name: 'Acts',
            show: ({ botId, isAsked }) =>
              isAsked ? (
                <span className="quiet">A check was requested.</span>
              ) : (
                <ActButton
                  act="items drift"
                  label="Check now"
                  does="Within seconds, the bot’s gateway compares the bot’s items with the books."
                  needs="support"
                  input={() => ({ bot: botId })}
                  onDone={refresh}
                />
              ),
          },
        ]}
      />
    </Panel>
  )
}
