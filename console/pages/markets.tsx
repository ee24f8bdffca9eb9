import type { MarketList } from '../../gateway/operations/markets.ts'
import type { Json } from '../api/json.ts'
import { ActButton } from '../ui/act.tsx'
import { useAnswer } from '../ui/answer.ts'
import { Loaded, Panel, Pill, Time } from '../ui/parts.tsx'
import { Table } from '../ui/table.tsx'

type Data = Json<MarketList>

const EFFECT_OF_OFF =
  'The vault lists nothing more there and removes its listings within a minute. Sold items are still delivered.'

export function MarketSwitches() {
  const { shown, refresh } = useAnswer<Data>('markets', {})
  return (
    <Panel title="Where the vault sells">
      <Loaded shown={shown} refresh={refresh}>
        {({ markets, needs, unlisted }) => (
          <>
            {needs.length > 0 && <NeedsTable needs={needs} />}
            <Table
              caption="Markets, with the sales under way on each"
              rows={markets}
              keyOf={({ market }) => market}
              empty="The vault has reported no market yet."
              columns={[
                { name: 'Market', show: ({ market }) => market },
                {
                  name: 'State',
                  show: ({ isOff, offSince }) =>
                    isOff ? (
                      <>
                        <Pill tone="warn">off</Pill> since <Time at={offSince} />
                      </>
                    ) : (
                      <Pill tone="good">on</Pill>
                    ),
                },
                { name: 'Listed', isNumber: true, show: ({ listed }) => listed },
                { name: 'Sold, not paid', isNumber: true, show: ({ unpaid }) => unpaid },
                { name: 'Reports not booked', isNumber: true, show: ({ waiting }) => waiting },
                {
                  name: 'Acts',
                  show: ({ market, isOff }) => (
                    <ActButton
                      act={isOff ? 'market on' : 'market off'}
                      label={isOff ? 'Sell there again' : 'Stop selling there'}
                      does={
                        isOff
                          ? 'The vault lists items there again, unless the market is also off in the vault.'
                          : EFFECT_OF_OFF
                      }
                      needs="support"
                      input={() => ({ market })}
                      onDone={refresh}
                    />
                  ),
                },
              ]}
            />
            {unlisted.length > 0 && <UnlistedTable unlisted={unlisted} />}
          </>
        )}
      </Loaded>
      <div className="acts">
        <ActButton
          act="market off"
          label="Stop selling on another market"
          does={EFFECT_OF_OFF}
          needs="support"
          fields={[{ name: 'market', label: 'Name of the market', hint: 'Such as market.csgo.com.' }]}
          input={({ market }) => ({ market })}
          onDone={refresh}
        />
      </div>
    </Panel>
  )
}

function UnlistedTable({ unlisted }: Pick<Data, 'unlisted'>) {
  return (
    <Table
      caption="Items of the vault’s accounts that are not on sale"
      rows={unlisted}
      keyOf={({ market, account, appId, reason }) => `${market} ${account} ${appId} ${reason}`}
      empty=""
      columns={[
        { name: 'Not on sale', show: ({ reason }) => reason },
        { name: 'Items', isNumber: true, show: ({ items }) => items ?? 'all' },
        { name: 'Detail', show: ({ detail }) => detail },
        { name: 'Market', show: ({ market }) => market },
        { name: 'Account', show: ({ account }) => account },
        { name: 'Reported', show: ({ saidAt }) => <Time at={saidAt} /> },
      ]}
    />
  )
}

function NeedsTable({ needs }: Pick<Data, 'needs'>) {
  return (
    <Table
      caption="What needs a person at the vault"
      rows={needs}
      keyOf={({ kind, about }) => `${kind} ${about}`}
      empty=""
      columns={[
        { name: 'Needs you', show: ({ kind }) => <Pill tone="warn">{kind}</Pill> },
        { name: 'What', show: ({ text }) => text },
        { name: 'About', show: ({ about }) => about },
        { name: 'Since', show: ({ since }) => <Time at={since} /> },
      ]}
    />
  )
}
