<?php
// A table by HTTP in PHP, with the least there can be: GET ...?id=17 and GET ...?limit=100. Persistent connections, statements
// prepared by the server, json_encode. Generic layers such as php-crud-api do this and a good deal more for each request.
const TABLES = ['events' => 'id'];
$table = basename($_SERVER['SCRIPT_URL'] ?? parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));
header('Content-Type: application/json');
if (!isset(TABLES[$table])) {
    http_response_code(404);
    exit;
}
$database = new PDO("mysql:unix_socket={$_SERVER['DB_SOCKET']};dbname={$_SERVER['DB_NAME']};charset=utf8mb4", $_SERVER['DB_USER'],
    $_SERVER['DB_PASSWORD'], [PDO::ATTR_PERSISTENT => true, PDO::ATTR_EMULATE_PREPARES => false]);
$key = TABLES[$table];
if (isset($_GET[$key])) {
    $statement = $database->prepare("SELECT * FROM `$table` WHERE `$key` = ?");
    $statement->execute([(int)$_GET[$key]]);
} else {
    $statement = $database->prepare("SELECT * FROM `$table` LIMIT ?");
    $statement->bindValue(1, (int)($_GET['limit'] ?? 100), PDO::PARAM_INT);
    $statement->execute();
}
echo json_encode($statement->fetchAll(PDO::FETCH_ASSOC));
