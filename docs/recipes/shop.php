<?php

/*
 * A complete small store for Tradetill that uses only PHP and its built-in SQLite.
 *
 * export TILL_URL=http://localhost:4300 TILL_KEY=tt_test_... TILL_SECRET=whsec_... PORT=8080
 * php shop.php reconcile &
 * PHP_CLI_SERVER_WORKERS=8 php -S 127.0.0.1:8080 shop.php
 *
 * docs/store-guide.md explains each step. PHP 8.1 or newer.
 */

declare(strict_types=1);

function setting(string $name, string $otherwise = ''): string
{
    $value = getenv($name);
    return $value === false || $value === '' ? $otherwise : $value;
}

function shopUrl(): string
{
    return 'http://localhost:' . setting('PORT', '8080');
}

/** SQLite lets one process write at a time, and the others wait. */
function database(): PDO
{
    static $db = null;
    if ($db === null) {
        $db = new PDO('sqlite:' . setting('DATA', __DIR__ . '/shop.sqlite'));
        $db->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        $db->exec('pragma busy_timeout = 15000');
        $db->exec(
            "create table if not exists purchase (id text primary key, customer text not null);
             create table if not exists credit (deposit text primary key, sequence integer not null,
               customer text not null, currency text not null, amount integer not null, held integer not null,
               reversed integer not null, charged integer not null);
             create table if not exists position (one integer primary key, sequence integer not null);
             insert into position values (1, 0) on conflict do nothing;"
        );
    }
    return $db;
}

/** @param list<mixed> $values */
function query(string $sql, array $values = []): PDOStatement
{
    $statement = database()->prepare($sql);
    $statement->execute($values);
    return $statement;
}

/** Retries a call that got no answer, 429 or 5xx. This is safe: reads change nothing, and the POST has an order id. */
function till(string $path, ?array $body = null, int $tries = 3): array
{
    $http = [
        'method' => $body === null ? 'GET' : 'POST',
        'header' => ['authorization: Bearer ' . setting('TILL_KEY'), 'content-type: application/json'],
        'timeout' => 10,
        'follow_location' => 0,
        'ignore_errors' => true,
    ];
    if ($body !== null) {
        $http['content'] = json_encode($body, JSON_THROW_ON_ERROR);
    }
    $text = @file_get_contents(setting('TILL_URL') . $path, false, stream_context_create(['http' => $http]));
    $head = $text === false ? [] : $http_response_header;
    $status = preg_match('/^\S+ (\d{3})/', $head[0] ?? '', $found) === 1 ? (int) $found[1] : 0;
    if ($status >= 200 && $status < 300) {
        return json_decode($text, true, 64, JSON_THROW_ON_ERROR);
    }
    $isTemporary = $status === 0 || $status === 429 || $status >= 500;
    if (!$isTemporary || $tries === 1) {
        throw new RuntimeException("the till refused $path: " . ($text === false ? 'no answer' : $text));
    }
    $pause = preg_match('/^retry-after: (\d+)/im', implode("\n", $head), $found) === 1 ? (int) $found[1] : 1;
    sleep(min($pause, 30));
    return till($path, $body, $tries - 1);
}

/** Stores the order first. If the call's answer is lost, a repeated call with the same id makes no second deposit. */
function openDeposit(string $customer): array
{
    $order = 'order-' . bin2hex(random_bytes(16));
    query('insert into purchase values (?, ?)', [$order, $customer]);
    return till('/v1/deposits', [
        'externalId' => $order,
        'currency' => 'USD',
        'backToStoreUrl' => shopUrl() . '/?order={EXTERNAL_ID}',
        'customerReference' => $customer,
        'customerLabel' => $customer,
    ]);
}

/**
 * An event contains its entire deposit, so the event with the largest sequence replaces the others. Repeated and
 * reordered events are therefore harmless. Types that are added later may concern something other than deposits.
 */
function take(array $event): void
{
    $deposit = $event['data'];
    if (!str_starts_with($event['type'], 'deposit.') || $deposit['amount'] === null) {
        return;
    }
    query(
        'insert into credit values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (deposit) do update
         set sequence = excluded.sequence, amount = excluded.amount, held = excluded.held,
           reversed = excluded.reversed, charged = excluded.charged
         where excluded.sequence > credit.sequence',
        [
            $deposit['id'],
            $event['sequence'],
            $deposit['customerReference'] ?? 'nobody',
            $deposit['currency'],
            $deposit['amount'],
            $deposit['heldAmount'],
            $deposit['reversedAmount'],
            $deposit['chargedAmount'] ?? 0,
        ]
    );
}

/** Below zero, close the account until the debt is settled. The till owes you a different sum: amount - charged. */
function spendable(string $customer): int
{
    $sql = "select sum(amount - reversed - held) from credit where customer = ? and currency = 'USD'";
    return (int) query($sql, [$customer])->fetchColumn();
}

/** The event log is ordered and has no gaps, so nothing is missing up to the last sequence that was read. */
function reconcile(): void
{
    do {
        $after = query('select sequence from position')->fetchColumn();
        $page = till("/v1/events?after=$after");
        foreach ($page['events'] as $event) {
            take($event);
        }
        query('update position set sequence = ?', [$page['next']]);
    } while ($page['hasMore']);
}

/**
 * Standard Webhooks: HMAC-SHA256 over id.timestamp.body, with the body as received. There are several signatures while
 * a secret is being replaced.
 */
function isGenuine(string $body): bool
{
    $key = base64_decode(preg_replace('/^whsec_/', '', setting('TILL_SECRET')));
    if ($key === '') {
        return false; // Without this, a store without a secret would accept every signature made with an empty one.
    }
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (preg_match('/^\d{1,12}$/D', $timestamp) !== 1 || abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $signed = ($_SERVER['HTTP_WEBHOOK_ID'] ?? '') . ".$timestamp.$body";
    $wanted = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($wanted, $signature)) {
            return true;
        }
    }
    return false;
}

function serve(): void
{
    $path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    // In your store the session names the customer; here the address does.
    $customer = is_string($_GET['customer'] ?? null) ? $_GET['customer'] : 'guest';
    if ($path === '/webhooks/tradetill') {
        // Checks the signature over the body as received, before it is parsed.
        $body = file_get_contents('php://input');
        if (!isGenuine($body)) {
            http_response_code(400);
            return;
        }
        $event = json_decode($body, true, 64, JSON_THROW_ON_ERROR);
        // The answer to a test of this address must repeat its challenge. In live mode that enables the endpoint.
        if ($event['type'] === 'webhook.test') {
            echo $event['data']['challenge'];
            return;
        }
        take($event);
        // Answer only after the commit, because after 2xx the till does not send this webhook again.
        http_response_code(204);
        return;
    }
    if ($path === '/buy') {
        header('location: ' . openDeposit($customer)['url'], true, 303);
        return;
    }
    echo spendable($customer);
}

if (PHP_SAPI === 'cli') {
    for (;;) {
        try {
            reconcile();
        } catch (Throwable $error) {
            fwrite(STDERR, "log not read, will retry: {$error->getMessage()}\n");
        }
        usleep((int) setting('RECONCILE_MS', '60000') * 1000);
    }
}

try {
    serve();
} catch (Throwable $error) {
    error_log((string) $error);
    http_response_code(500);
}
