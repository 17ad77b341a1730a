// What @supabase/postgrest-js, as it comes, does to a roost with the tests' sample tables. Run by mysql_clients.py:
//   node mysql_clients.mjs PATH_OF_THE_PACKAGE URL
// Prints a line for each case, and ends with 1 where one is not as it should be.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';

const [where, url] = process.argv.slice(2);
const { PostgrestClient } = await import(pathToFileURL(where));
const client = new PostgrestClient(url);
const from = table => client.from(table);

// The data of an answer that must be one.
async function data(query, status = 200) {
  const answer = await query;
  assert.equal(answer.error, null, JSON.stringify(answer.error));
  assert.equal(answer.status, status);
  return answer.data;
}
async function refused(query, status, code) {
  const { error, status: given } = await query;
  assert.ok(error, 'it was not refused');
  assert.deepEqual([given, error.code], [status, code], JSON.stringify(error));
  return error;
}
const ids = rows => rows.map(row => row.id);
const numbers = (first, last, step = 1) => Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => first + i * step);

const CASES = {
  // Reading.
  'select': async () => assert.deepEqual(await data(from('customers').select('id, name').eq('id', 7)), [{ id: 7, name: 'Customer 7' }]),
  'select *': async () => assert.deepEqual(Object.keys((await data(from('customers').select().limit(1)))[0]), ['id', 'name', 'email', 'city', 'country', 'vip', 'born']),
  'select with alias': async () => assert.deepEqual(await data(from('customers').select('number:id,who:name').eq('id', 7)), [{ number: 7, who: 'Customer 7' }]),
  'select with cast': async () => assert.deepEqual(await data(from('customers').select('id::text').eq('id', 7)), [{ id: '7' }]),
  'select from json': async () => assert.deepEqual(await data(from('documents').select('id,n:body->n,third:body->deep->list->1,text:body->deep->list->>1').eq('id', 3)), [{ id: 3, n: 3, third: 'x', text: 'x' }]),
  'single': async () => assert.deepEqual(await data(from('customers').select('name').eq('id', 7).single()), { name: 'Customer 7' }),
  'single of none': () => refused(from('customers').select().eq('id', 70000).single(), 406, 'PGRST116'),
  'single of many': () => refused(from('customers').select().lt('id', 3).single(), 406, 'PGRST116'),
  'maybeSingle': async () => assert.equal((await data(from('customers').select('id').eq('id', 7).maybeSingle())).id, 7),
  'maybeSingle of none': async () => assert.equal((await from('customers').select().eq('id', 70000).maybeSingle()).data, null),
  'maybeSingle of many': async () => assert.ok((await from('customers').select().lt('id', 3).maybeSingle()).error),
  'csv': async () => assert.equal((await data(from('customers').select('id,name').lte('id', 2).csv())).trim().replaceAll('\r', ''), 'id,name\n1,Customer 1\n2,Customer 2'),
  'count exact': async () => assert.equal((await from('customers').select('*', { count: 'exact', head: true })).count, 200),
  'count planned': async () => assert.ok((await from('customers').select('*', { count: 'planned', head: true })).count > 0),
  'count estimated': async () => assert.ok((await from('customers').select('id', { count: 'estimated' }).limit(1)).count > 100),
  'count with range': async () => {
    const { data: rows, count, status } = await from('orders').select('id', { count: 'exact' }).order('id').range(10, 14);
    assert.deepEqual([ids(rows), count, status], [[11, 12, 13, 14, 15], 2000, 206]);
  },
  'head': async () => assert.equal((await from('customers').select('*', { head: true })).data, null),
  'order': async () => assert.deepEqual(ids(await data(from('customers').select('id').order('id', { ascending: false }).limit(3))), [200, 199, 198]),
  'order, nulls first': async () => assert.equal((await data(from('customers').select('city').order('city', { nullsFirst: true }).limit(1)))[0].city, null),
  'order, nulls last': async () => assert.equal((await data(from('customers').select('city').order('city', { nullsFirst: false }).limit(1)))[0].city, 'Berlin'),
  'order by several': async () => assert.deepEqual(ids(await data(from('customers').select('id').order('country').order('id', { ascending: false }).limit(2))), [199, 196]),
  'limit and range': async () => assert.deepEqual(ids(await data(from('customers').select('id').order('id').range(2, 4))), [3, 4, 5]),

  // Filters.
  'eq, neq, gt, gte, lt, lte': async () => {
    const all = q => data(q).then(ids);
    assert.deepEqual(await all(from('customers').select('id').eq('id', 3)), [3]);
    assert.deepEqual(await all(from('customers').select('id').neq('id', 3).lte('id', 4).order('id')), [1, 2, 4]);
    assert.deepEqual(await all(from('customers').select('id').gt('id', 198).order('id')), [199, 200]);
    assert.deepEqual(await all(from('customers').select('id').gte('id', 199).order('id')), [199, 200]);
    assert.deepEqual(await all(from('customers').select('id').lt('id', 3).order('id')), [1, 2]);
  },
  'like, ilike': async () => {
    assert.equal((await data(from('customers').select('id').like('name', '%er 20_'))).length, 1);
    assert.equal((await data(from('customers').select('id').ilike('name', 'CUSTOMER 1%'))).length, 111);
    assert.equal((await data(from('customers').select('id').like('name', 'CUSTOMER 1%'))).length, 0);
  },
  'likeAnyOf, likeAllOf, ilikeAnyOf, ilikeAllOf': async () => {
    assert.deepEqual(ids(await data(from('customers').select('id').likeAnyOf('name', ['%r 5', '%r 6']).order('id'))), [5, 6]);
    assert.equal((await data(from('customers').select('id').likeAllOf('name', ['Cust%', '%77%']))).length, 2);
    assert.equal((await data(from('customers').select('id').ilikeAnyOf('name', ['%R 5', '%R 6']))).length, 2);
    assert.equal((await data(from('customers').select('id').ilikeAllOf('name', ['CUST%', '%77%']))).length, 2);
  },
  'regexMatch, regexIMatch': async () => {
    if (!from('x').select().regexMatch) return 'not in this version';
    assert.equal((await data(from('customers').select('id').regexMatch('name', '^Customer [12]$'))).length, 2);
    assert.equal((await data(from('customers').select('id').regexIMatch('name', '^CUSTOMER [12]$'))).length, 2);
  },
  'is': async () => {
    assert.equal((await data(from('customers').select('id').is('city', null))).length, 40);
    assert.equal((await data(from('customers').select('id').is('vip', true))).length, 20);
    assert.equal((await data(from('customers').select('id').not('city', 'is', null))).length, 160);
  },
  'isDistinct': async () => {
    if (!from('x').select().isDistinct) return 'not in this version';
    assert.equal((await data(from('customers').select('id').isDistinct('city', 'Bonn'))).length, 160);
  },
  'in': async () => {
    assert.deepEqual(ids(await data(from('customers').select('id').in('id', [5, 3, 4]).order('id'))), [3, 4, 5]);
    assert.equal((await data(from('customers').select('id').in('name', ['Customer 1', 'a,b', 'c"d', '(e)']))).length, 1);
    assert.equal((await data(from('customers').select('id').in('city', ['Köln', 'Wien']))).length, 80);
  },
  'notIn': async () => {
    if (!from('x').select().notIn) return 'not in this version';
    assert.deepEqual(ids(await data(from('customers').select('id').lte('id', 4).notIn('id', [1, 2]).order('id'))), [3, 4]);
  },
  'not': async () => assert.equal((await data(from('customers').select('id').not('id', 'in', '(1,2,3)'))).length, 197),
  'or': async () => assert.deepEqual(ids(await data(from('customers').select('id').or('id.eq.3,name.eq."Customer 5"').order('id'))), [3, 5]),
  'or with and within': async () => assert.deepEqual(ids(await data(from('customers').select('id').or('id.eq.3,and(id.gt.7,id.lte.9,not.or(id.eq.8))').order('id'))), [3, 9]),
  'match': async () => assert.deepEqual(ids(await data(from('customers').select('id').match({ id: 7, country: 'at' }))), [7]),
  'filter': async () => assert.deepEqual(ids(await data(from('customers').select('id').filter('id', 'in', '(7,8)').order('id'))), [7, 8]),
  'filter within json': async () => assert.deepEqual(ids(await data(from('documents').select('id').eq('body->>n', 5))), [5]),
  'textSearch': async () => {
    const rows = await data(from('articles').select('id,body').textSearch('body', 'pigeon', { type: 'websearch' }));
    assert.equal(rows.length, 15);
    assert.ok(rows.every(row => row.body.includes('pigeon')));
  },
  'values that look like something else': async () => {
    for (const value of ["'; DROP TABLE customers; --", 'eq.1', '%', '\\', '"', '(1,2)', '', 'null', 'a&b=c#d', '😀'])
      assert.deepEqual(await data(from('customers').select('id').eq('name', value)), []);
  },

  // Rows within rows.
  'embed to one': async () => assert.deepEqual(await data(from('orders').select('id,customers(name)').eq('id', 1)), [{ id: 1, customers: { name: 'Customer 8' } }]),
  'embed to many': async () => {
    const [row] = await data(from('customers').select('id,orders(id)').eq('id', 8));
    assert.deepEqual(ids(row.orders).sort((a, b) => a - b), numbers(1, 1801, 200));
  },
  'embed with alias and filter': async () => {
    const rows = await data(from('customers').select('id,bought:orders(id,status)').eq('id', 8).eq('bought.status', 'paid'));
    assert.ok(rows[0].bought.length > 0 && rows[0].bought.every(order => order.status == 'paid'));
  },
  'embed ordered and limited': async () => {
    const [row] = await data(from('customers').select('id,orders(id)').eq('id', 8).order('id', { referencedTable: 'orders', ascending: false }));
    assert.deepEqual(ids(row.orders), numbers(1, 1801, 200).reverse());
  },
  'embed inner': async () => assert.deepEqual((await data(from('orders').select('id,customers!inner(city)').eq('customers.city', 'Bonn').lt('id', 20).order('id'))).map(row => row.customers.city), ['Bonn', 'Bonn', 'Bonn', 'Bonn']),
  'embed of itself is ambiguous': async () => assert.ok((await from('employees').select('id,employees(id)')).error),

  // Writing.
  'insert': async () => assert.equal(await data(from('notes').insert({ author: 'js', text: 'one' }), 201), null),
  'insert and select': async () => {
    const [row] = await data(from('notes').insert({ author: 'js', text: 'größe "quoted" 😀' }).select('author,text'), 201);
    assert.deepEqual(row, { author: 'js', text: 'größe "quoted" 😀' });
  },
  'insert many': async () => {
    const rows = await data(from('notes').insert([{ author: 'many', text: 'a' }, { author: 'many', text: 'b' }]).select('text'), 201);
    assert.deepEqual(rows.map(row => row.text), ['a', 'b']);
  },
  'insert many with defaults': async () => {
    const rows = await data(from('notes').insert([{ author: 'ragged', text: 'a' }, { text: 'b' }], { defaultToNull: false }).select('author'), 201);
    assert.deepEqual(rows.map(row => row.author), ['ragged', 'anonymous']);
  },
  'insert counted': async () => assert.equal((await from('notes').insert([{ text: 'a' }, { text: 'b' }], { count: 'exact' })).count, 2),
  'insert one that is there': () => refused(from('products').insert({ sku: 'SKU-0001', name: 'x', price: 1 }), 409, 'unique_violation'),
  'insert with a foreign key to nothing': () => refused(from('orders').insert({ customer_id: 99999 }), 409, 'foreign_key_violation'),
  'insert of what is no column': () => refused(from('notes').insert({ nothing: 1 }), 400, 'unknown_column'),
  'update': async () => {
    await data(from('notes').insert({ author: 'update', text: 'before' }), 201);
    assert.equal(await data(from('notes').update({ text: 'after' }).eq('author', 'update'), 204), null);
    assert.equal((await data(from('notes').select('text').eq('author', 'update').single())).text, 'after');
  },
  'update and select': async () => {
    await data(from('notes').insert([{ author: 'both', text: 'a' }, { author: 'both', text: 'b' }]), 201);
    assert.deepEqual(await data(from('notes').update({ text: 'c' }).eq('author', 'both').select('text')), [{ text: 'c' }, { text: 'c' }]);
  },
  'update counted': async () => {
    await data(from('notes').insert([{ author: 'count' }, { author: 'count' }, { author: 'count' }]), 201);
    assert.equal((await from('notes').update({ text: 'c' }, { count: 'exact' }).eq('author', 'count')).count, 3);
  },
  'update without a filter': () => refused(from('notes').update({ text: 'x' }), 400, 'filter_required'),
  'update of at most one': async () => {
    await data(from('notes').insert([{ author: 'most' }, { author: 'most' }]), 201);
    const query = from('notes').update({ text: 'x' }).eq('author', 'most');
    if (!query.maxAffected) return 'not in this version';
    const { error } = await query.maxAffected(1).select();
    assert.ok(error);
    assert.equal((await data(from('notes').select('text').eq('author', 'most').is('text', null))).length, 2);
  },
  'upsert': async () => {
    await data(from('stock').upsert({ warehouse: 'js', product_id: 1, quantity: 5 }), 201);
    const rows = await data(from('stock').upsert([{ warehouse: 'js', product_id: 1, quantity: 6 }, { warehouse: 'js', product_id: 2, quantity: 7 }]).select(), 201);
    assert.deepEqual(rows.map(row => row.quantity).sort(), [6, 7]);
    assert.equal((await data(from('stock').select('quantity').match({ warehouse: 'js', product_id: 1 }).single())).quantity, 6);
  },
  'upsert by another key': async () => {
    const rows = await data(from('customers').upsert({ email: 'c7@example.org', name: 'Seven' }, { onConflict: 'email' }).select('id,name'), 201);
    assert.deepEqual(rows, [{ id: 7, name: 'Seven' }]);
    await data(from('customers').update({ name: 'Customer 7' }).eq('id', 7), 204);
  },
  'upsert that ignores': async () => {
    await data(from('stock').upsert({ warehouse: 'js', product_id: 1, quantity: 99 }, { ignoreDuplicates: true }), 200);
    assert.equal((await data(from('stock').select('quantity').match({ warehouse: 'js', product_id: 1 }).single())).quantity, 6);
  },
  'delete': async () => {
    await data(from('notes').insert([{ author: 'gone' }, { author: 'gone' }]), 201);
    assert.equal((await from('notes').delete({ count: 'exact' }).eq('author', 'gone')).count, 2);
    assert.deepEqual(await data(from('notes').select().eq('author', 'gone')), []);
  },
  'delete and select': async () => {
    await data(from('notes').insert({ author: 'last', text: 'words' }), 201);
    assert.deepEqual(await data(from('notes').delete().eq('author', 'last').select('text')), [{ text: 'words' }]);
  },
  'delete without a filter': () => refused(from('notes').delete(), 400, 'filter_required'),

  // Schemas: supabase-js asks for "public" by itself.
  'schema public': async () => {
    const chosen = new PostgrestClient(url, { schema: 'public' });
    assert.deepEqual(await data(chosen.from('customers').select('id').eq('id', 7)), [{ id: 7 }]);
    assert.deepEqual(await data(chosen.rpc('customers_of', { country: 'at', most: 1 })), [{ id: 1, name: 'Customer 1' }]);
  },
  'schema of the database': async () => assert.deepEqual(await data(client.schema('sample').from('customers').select('id').eq('id', 7)), [{ id: 7 }]),
  'other schemas': async () => {
    const other = client.schema('otherdb');
    await refused(other.from('customers').select(), 406, 'PGRST106');
    await refused(other.from('customers').update({ name: 'Changed' }).eq('id', 7), 406, 'PGRST106');
    await refused(other.rpc('customers_of', { country: 'at' }), 406, 'PGRST106');
  },

  // Functions: configured statements at rpc/.
  'rpc': async () => assert.deepEqual(await data(client.rpc('customers_of', { country: 'at', most: 2 })), [{ id: 1, name: 'Customer 1' }, { id: 4, name: 'Customer 4' }]),
  'rpc by get': async () => assert.deepEqual(await data(client.rpc('customers_of', { country: 'at', most: 1 }, { get: true })), [{ id: 1, name: 'Customer 1' }]),
  'rpc single': async () => assert.deepEqual(await data(client.rpc('customers_of', { country: 'at', most: 1 }).single()), { id: 1, name: 'Customer 1' }),
  'rpc with what it does not know': () => refused(client.rpc('customers_of', { country: 'at', nothing: 1 }), 400, 'unknown_parameter'),

  // What goes wrong.
  'no such table': () => refused(from('nowhere').select(), 404, 'unknown_table'),
  'no such column': () => refused(from('customers').select('id,nothing'), 400, 'unknown_column'),
  'what cannot be mapped': async () => {
    for (const query of [from('customers').select().contains('name', ['x']), from('customers').select().overlaps('name', ['x']),
      from('customers').select().rangeGt('id', '[1,2]'), from('customers').select('id.sum()')]) {
      const { error, status } = await query;
      assert.ok(error && status == 400, JSON.stringify({ error, status }));
    }
  },
  'an abort': async () => {
    const controller = new AbortController();
    const query = from('customers').select().abortSignal(controller.signal);
    controller.abort();
    assert.ok((await query).error);
  },
  'throwOnError': async () => assert.rejects(async () => { await from('nowhere').select().throwOnError(); }),
};

let failed = 0;
for (const [name, run] of Object.entries(CASES)) {
  try {
    const note = await run();
    console.log(`ok      ${name}${typeof note == 'string' ? ` (${note})` : ''}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}
console.log(`${Object.keys(CASES).length - failed} of ${Object.keys(CASES).length} cases as they should be`);
process.exit(failed ? 1 : 0);
